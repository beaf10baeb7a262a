"""Sums of wide integers whose carries do not pass through all bits one by one."""

from amaranth import Cat, Const, Mux, Value

__all__ = ["wide_sum"]


def wide_sum(*terms: Value, bits: int, carry: Value | None = None) -> Value:
    """The sum of two or three `terms`, and of a `carry` bit, modulo ``2**bits``; unsigned.

    The upper half is computed for both carries from the lower one, which then choose.
    """
    first, second, *third = (_extended(term, bits) for term in terms)
    enters = Const(0, 1) if carry is None else carry
    if third:
        (last,) = third
        majority = (first & second) | (last & (first | second))
        first, second, enters = first ^ second ^ last, Cat(enters, majority)[:bits], Const(0, 1)
    half = bits // 2
    low = first[:half] + second[:half] + enters
    high = (first[half:] + second[half:])[: bits - half]
    return Cat(low[:half], Mux(low[half], high + 1, high)[: bits - half])


def _extended(value: Value, bits: int) -> Value:
    """The lowest `bits` bits of `value`, which goes on with its sign."""
    if len(value) >= bits:
        return value[:bits]
    more = bits - len(value)
    return Cat(value, value[-1].replicate(more) if value.shape().signed else Const(0, more))
