"""Skew: element n of a row, n cycles late, as a systolic array wants it."""

from collections.abc import Iterator

from amaranth import Cat, Module, Signal, Value

from celosia.hw.lib.fields import CHUNK_BITS

__all__ = ["staggered"]


def staggered(m: Module, values: list[Value], *, name: str) -> Iterator[Value]:
    """Value n as it was n cycles ago.  All are of the same size.

    The array's inputs are skewed by it, and its outputs aligned, in the opposite order.  With four
    values, `a1` that of cycle 1::

        cycle        3   4   5   6
        result 0    a3  a4  a5  a6
        result 1    b2  b3  b4  b5
        result 2    c1  c2  c3  c4
        result 3    d0  d1  d2  d3

    Values that move together share a register; each of them leaves it at the low end.
    """
    bits = len(values[0])
    per_register = CHUNK_BITS // bits
    for first in range(0, len(values), per_register):
        last = min(first + per_register, len(values)) - 1
        line: Value = Cat(values[first : last + 1])
        for cycles in range(last + 1):
            if cycles >= first:
                yield line[:bits]
                line = line[bits:]
            if cycles < last:
                register = Signal.like(line, name=f"{name}_{last}_{cycles + 1}", reset_less=True)
                m.d.sync += register.eq(line)
                line = register
