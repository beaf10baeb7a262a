"""Finds the variables of `celosia.sim.verilator.wasm.watched` in the C++ of a model."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from celosia.hw.decode.ops import Space
from celosia.hw.execute.mesh import ACTIVATION, WEIGHT
from celosia.hw.lib.fields import CHUNK_BITS
from celosia.isa.config import AcceleratorConfig
from celosia.sim.verilator.wasm.watched import CELLS, SAID, Flag, flags_of, watched_words

__all__ = ["UnknownNameError", "watch_header", "write_header"]

_ROOT: Final = "model/Vtop___024root.h"
"""Declares the variables of a model."""
_MESH: Final = "execute__DOT__array__DOT__mesh"


class UnknownNameError(Exception):
    """The model has no variable of this name: the RTL names it in another way."""


def write_header(config: AcceleratorConfig, work: Path) -> None:
    """Write `watch_header` of the model that `translate` has left in the directory `work`.

    Raises as `watch_header` does.
    """
    (work / "watched.h").write_text(watch_header(config, (work / _ROOT).read_text()))


def watch_header(config: AcceleratorConfig, root: str) -> str:
    """``watched.h``, for a model whose variables the header `root` declares.

    Raises `UnknownNameError` for a name that it does not have.
    """
    model, words = _Model(root), watched_words(config)
    before: list[tuple[int, str]] = []
    after: list[tuple[int, str]] = []
    for word, name, row, col in _cells(config):
        if name == "activation" and col == config.dim - 1:
            before.append((word, model.cell(config, name, row, col - 1)))
        else:
            after.append((word, model.cell(config, name, row, col)))
    for flag, place in zip(flags_of(config), words["flags"], strict=True):
        (before if flag.early else after).append((place["word"], model.flag(flag)))
    for queue, word in words["queues"].items():
        prefix = f"issue__DOT__fifos__DOT__{queue}_queue__DOT__"
        offered = model.name(f"{prefix}o___05Fvalid")
        after.append((word, f"{model.name(f'{prefix}level')} + {offered}"))
    lines = ["#pragma once", f"constexpr unsigned kSaid = {words['said'][SAID[0]]};"]
    for function, found in (("before", before), ("after", after)):
        lines.append(f"static void watch_{function}(const Vtop___024root& r, int32_t* w) {{")
        lines += [f"  w[{word}] = {value};" for word, value in found]
        lines.append("}")
    return "\n".join([*lines, ""])


def _cells(config: AcceleratorConfig) -> Iterator[tuple[int, str, int, int]]:
    """Each word of a cell: its place, what it is, row and column."""
    places = [
        (name, row, col) for name in CELLS for row in range(config.dim) for col in range(config.dim)
    ]
    for word, place in enumerate(places):
        yield word, *place


class _Model:
    """The variables of a model, as C++ reads them in `r`."""

    def __init__(self, root: str):
        self._known = set(re.findall(r"(\w+);", root))
        prefixes = {
            re.sub(rf"{_MESH}__DOT__\w+$", "", each) for each in self._known if _MESH in each
        }
        if len(prefixes) != 1:
            raise UnknownNameError(f"the model has no {_MESH}, or several")
        (self._prefix,) = prefixes

    def name(self, *choices: str) -> str:
        """The first of these that there is."""
        for choice in choices:
            if self._prefix + choice in self._known:
                return f"r.{self._prefix}{choice}"
        raise UnknownNameError(f"the model has no variable {' or '.join(choices)}")

    def cell(self, config: AcceleratorConfig, name: str, row: int, col: int) -> str:
        """A register of a cell as a signed number."""
        last = config.dim - 1
        if name == "shadow":
            chunk, low = divmod(col * WEIGHT.width, CHUNK_BITS)
            value = f"{self.name(f'{_MESH}__DOT__shadow_{row}_{chunk}')} >> {low}"
            return _signed(value, WEIGHT.width)
        bits = {
            "weight": WEIGHT.width,
            "activation": ACTIVATION.width,
            "sum": config.partial_sum_bits,
        }[name]
        if name == "sum" and row == col == last:
            # It leaves at once, and has the name of what it leaves through.
            return _signed(self.name(f"execute__DOT__sums___05F{last}"), bits)
        alone = f"{_MESH}__DOT__{name}_{row}_{col}"
        # Rows with the same updates are one array, which has room for others, too.
        column = f"{_MESH}__DOT__{name}_column_{col}"
        found = self.name(alone, column)
        return _signed(f"{found}[{row}]" if found.endswith(column) else found, bits)

    def flag(self, flag: Flag) -> str:
        """Whether it is so, as 0 or 1."""
        value = " || ".join(self.name(signal) for signal in flag.signals)
        if not flag.state:
            return value
        signal, member = flag.state
        return f"({value}) && {self.name(signal)} == {Space[member].value}"


def _signed(value: str, bits: int) -> str:
    return f"int32_t(uint32_t({value}) << {32 - bits}) >> {32 - bits}"
