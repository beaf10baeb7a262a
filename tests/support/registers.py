"""The registers of a design, before anything is simulated."""

from collections.abc import Iterator
from typing import Any

from amaranth.hdl import Elaboratable, Fragment

__all__ = ["reset_registers"]


def reset_registers(design: Elaboratable) -> dict[str, int]:
    """The registers of `design` and its submodules that a reset sets: names, and widths in bits.

    A flip-flop with a reset is larger than one without, and only what is looked at before it was
    written needs one.  Of registers of one name, the width is that of the widest.
    """
    widths: dict[str, int] = {}
    for name, width in _reset_registers(Fragment.get(design, None)):
        widths[name] = max(width, widths.get(name, 0))
    return widths


def _reset_registers(fragment: Any) -> Iterator[tuple[str, int]]:
    for domain, statements in fragment.statements.items():
        if domain != "comb":
            driven = (each for one in statements for each in one._lhs_signals())
            yield from ((each.name, len(each)) for each in driven if not each.reset_less)
    for part, *_ in fragment.subfragments:
        yield from _reset_registers(part)
