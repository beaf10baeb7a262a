"""Finds what repeats in a list, such as the layers of a model, and names what is shown once."""

import re
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = ["Block", "blocks", "kind_of_name", "span_name"]

_NUMBER: Final = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Block:
    """So many elements from `start`, `count` times one after the other."""

    start: int
    size: int
    count: int


def blocks(kinds: Sequence[Hashable]) -> Iterator[Block]:
    """The whole list as blocks, from its start: each covers as many elements as it can.

    Of two that cover as many, it is the one of fewer elements, more times.
    """
    numbers: dict[Hashable, int] = {}
    row = [numbers.setdefault(kind, len(numbers)) for kind in kinds]
    start = 0
    while start < len(row):
        best = Block(start, 1, 1)
        for size in range(1, (len(row) - start) // 2 + 1):
            if row[start] == row[start + size]:
                count = _times(row, start, size)
                if count > 1 and size * count > best.size * best.count:
                    best = Block(start, size, count)
        yield best
        start += best.size * best.count


def _times(row: Sequence[int], start: int, size: int) -> int:
    """How often so many elements stand there, one time behind the other."""
    count, part = 1, row[start : start + size]
    while row[start + count * size : start + (count + 1) * size] == part:
        count += 1
    return count


def kind_of_name(name: str) -> str:
    """A name without its numbers: those of layers that are alike are the same."""
    return _NUMBER.sub("#", name)


def span_name(names: Sequence[str]) -> str:
    """One name for several of a kind: ``layer.0-11.query x12``; ``node_5..71 x12`` with gaps."""
    if len(names) == 1:
        return names[0]
    pieces = zip(*(_NUMBER.split(name) for name in names), strict=True)
    return f"{''.join(map(_span, pieces))} x{len(names)}"


def _span(pieces: Sequence[str]) -> str:
    first, last = pieces[0], pieces[-1]
    if len(set(pieces)) == 1:
        return first
    together = [int(piece) for piece in pieces] == list(range(int(first), int(last) + 1))
    return f"{first}{'-' if together else '..'}{last}"
