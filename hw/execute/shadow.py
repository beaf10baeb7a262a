"""Weights on their way to the shadow registers of the array's rows."""

from collections.abc import Iterator

from amaranth import Cat, Module, Mux, Signal, Value

from celosia.hw.lib.delay import delay, tapped_delay
from celosia.hw.lib.fields import chunk_registers
from celosia.isa.encoding import WeightType

__all__ = ["ELEMENT_BITS", "PAIR_BITS", "paired_rows", "plain_rows"]

ELEMENT_BITS = 8
"""Bits of a weight at a cell."""

PAIR_BITS = WeightType.INT4.bits
"""Bits of a weight of a pair."""


def plain_rows(m: Module, weights: Value, start: Value, dim: int) -> Iterator[list[Value]]:
    """The shadow weights of each row: row r takes `weights` r cycles after `start`."""
    enables = tapped_delay(m, start, dim, name="weights_row")
    return (_kept(m, weights, enables[row], f"shadow_{row}") for row in range(dim))


def paired_rows(
    m: Module, weights: Value, second: Value, start: Value, pair: Value, dim: int
) -> Iterator[list[Value]]:
    """The same, where `second` may be the line dim/2 behind that on `weights`, in a `pair`.

    All lines of a tile are pairs, or none is.  With h = dim/2, row r < h takes the columns from 0
    to h - 1 of the first line r cycles after `start`, and row h + r those of the second line h + r
    cycles after it, when the array's data can reach them; both take the other columns h cycles
    later, as `swap` does.  Until then they are on their way here.  So, of each row, a half is held
    for h cycles, and the next pair's tile may begin h cycles behind this one.
    """
    half = dim // 2
    alone = tapped_delay(m, start & ~pair, dim, name="weights_row")
    paired = tapped_delay(m, start & pair, dim + half, name="pairs_row")
    was_pair = delay(m, pair, half, name="pair")
    long_ago = delay(m, was_pair, half, name="pair_right")

    split = half * PAIR_BITS
    first_right = Cat(element[:PAIR_BITS] for element in _elements(weights)[half:])
    first_right = delay(m, first_right, half, name="first_right")
    late = delay(m, second, half, name="second")
    second_left, second_right = late[:split], delay(m, late[split:], half, name="second_right")
    left, right = weights[: half * ELEMENT_BITS], weights[half * ELEMENT_BITS :]
    upper = left, _chosen(m, was_pair, first_right, right, "upper_right")
    lower = (
        _chosen(m, was_pair, second_left, left, "lower_left"),
        _chosen(m, long_ago, second_right, right, "lower_right"),
    )
    return (
        [
            weight
            for side, columns in enumerate(upper if row < half else lower)
            for weight in _kept(
                m, columns, alone[row] | paired[row + side * half], f"shadow_{row}_{side}"
            )
        ]
        for row in range(dim)
    )


def _kept(m: Module, weights: Value, enable: Value, name: str) -> list[Value]:
    """The elements of `weights` as they were when they were last enabled."""
    kept = Cat(chunk_registers(weights, name))
    with m.If(enable):
        m.d.sync += kept.eq(weights)
    return _elements(kept)


def _elements(weights: Value) -> list[Value]:
    return [weights.word_select(col, ELEMENT_BITS) for col in range(len(weights) // ELEMENT_BITS)]


def _chosen(m: Module, choose: Value, pairs: Value, weights: Value, name: str) -> Value:
    """`pairs` with their signs, or `weights`."""
    chosen = Signal(len(weights), name=name)
    elements = [pairs.word_select(col, PAIR_BITS) for col in range(len(pairs) // PAIR_BITS)]
    wide = Cat(Cat(each, each[-1].replicate(ELEMENT_BITS - PAIR_BITS)) for each in elements)
    m.d.comb += chosen.eq(Mux(choose, wide, weights))
    return chosen
