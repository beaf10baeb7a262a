"""What a Liberty file says of its cells: area, and which ones are flip-flops."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["Cell", "LibertyError", "gate_equivalent", "read_cells"]

_CELL: Final = re.compile(r'\bcell\s*\(\s*"?([\w$.]+)"?\s*\)\s*\{')
_AREA: Final = re.compile(r'\barea\s*:\s*"?([-+.\deE]+)"?\s*;')
_FLIP_FLOP: Final = re.compile(r"\bff(?:_bank)?\s*\(")
_COMMENT: Final = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_NAND2: Final = re.compile(r"(?:^|_)nand2(?:x|_)?\d*$", re.IGNORECASE)


class LibertyError(ValueError):
    """A Liberty file that synthesis for area cannot use; the message says why."""


@dataclass(frozen=True)
class Cell:
    """A cell of a library."""

    area: float
    """In the library's unit, which is um2 in all that are known."""
    flip_flop: bool


def read_cells(text: str) -> dict[str, Cell]:
    """The cells of a Liberty file, by name.

    Raises `LibertyError` for a file without cells, for a brace that is not closed, and for a cell
    without a positive area among ones that have none either.
    """
    cells: dict[str, Cell] = {}
    without = []
    for name, body in _bodies(_COMMENT.sub("", text)):
        area = _AREA.search(body)
        size = float(area[1]) if area else 0.0
        if size <= 0:
            without.append(name)
        else:
            cells[name] = Cell(size, _FLIP_FLOP.search(body) is not None)
    if not cells and not without:
        raise LibertyError("has no cells: it is not a Liberty file")
    if not cells:
        raise LibertyError(f"none of its {len(without)} cells has an area: {without[0]} for one")
    if not any(cell.flip_flop for cell in cells.values()):
        raise LibertyError("has no flip-flop with an area")
    return cells


def gate_equivalent(cells: dict[str, Cell]) -> float:
    """The area of the smallest NAND gate of two inputs.  Raises `LibertyError` if there is none."""
    areas = [cell.area for name, cell in cells.items() if _NAND2.search(name)]
    if not areas:
        raise LibertyError("has no cell NAND2 with an area, of which gate equivalents are counted")
    return min(areas)


def _bodies(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    while found := _CELL.search(text, place):
        end = _closing(text, found.end())
        if end < 0:
            raise LibertyError(f"the brace of cell {found[1]} is not closed")
        yield found[1], text[found.end() : end]
        place = end


def _closing(text: str, place: int) -> int:
    depth = 1
    for brace in re.compile(r"[{}]").finditer(text, place):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            return brace.start()
    return -1
