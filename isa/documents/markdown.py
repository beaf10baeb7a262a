"""Small pieces of Markdown."""

from collections.abc import Iterable, Sequence

__all__ = ["bit_range", "table"]


def bit_range(low: int, bits: int) -> str:
    """``high:low``, or the one bit."""
    return f"{low + bits - 1}:{low}" if bits > 1 else f"{low}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells may not hold vertical bars."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
