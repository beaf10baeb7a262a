"""The registers of a design, before anything is simulated."""

from collections.abc import Iterator
from typing import Any

from amaranth.hdl import Elaboratable, Fragment, Signal

__all__ = ["reset_bits", "reset_registers"]


def reset_registers(design: Elaboratable) -> dict[str, int]:
    """The registers of `design` and its submodules that a reset sets: names, and widths in bits.

    A flip-flop with a reset is larger than one without, and only what is looked at before it was
    written needs one.  Of registers of one name, the width is that of the widest.
    """
    widths: dict[str, int] = {}
    for register in _reset_registers(Fragment.get(design, None)):
        widths[register.name] = max(len(register), widths.get(register.name, 0))
    return widths


def reset_bits(design: Elaboratable) -> dict[str, int]:
    """How many flip-flops of `design` a reset sets: in each submodule, and under "" in itself."""
    top: Any = Fragment.get(design, None)
    counts = {name: _bits_of(_reset_registers(part)) for part, name, *_ in top.subfragments}
    return counts | {"": _bits_of(_own_reset_registers(top))}


def _bits_of(registers: Iterator[Signal]) -> int:
    """The bits of `registers`, which may come more than once."""
    return sum({id(each): len(each) for each in registers}.values())


def _reset_registers(fragment: Any) -> Iterator[Signal]:
    yield from _own_reset_registers(fragment)
    for part, *_ in fragment.subfragments:
        yield from _reset_registers(part)


def _own_reset_registers(fragment: Any) -> Iterator[Signal]:
    for domain, statements in fragment.statements.items():
        if domain != "comb":
            driven = (each for one in statements for each in one._lhs_signals())
            yield from (each for each in driven if not each.reset_less)
