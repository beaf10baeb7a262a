"""Advances of operands, against `celosia.isa.operations.loops.advance` and whole words."""

from itertools import pairwise

import numpy as np
from hypothesis import assume, event, example, given
from hypothesis import strategies as st

from celosia.isa.encoding import STRIDE
from celosia.isa.encoding.loops import LANE_BITS, LANES
from celosia.isa.operations.loops import advance
from celosia.sw.passes.loops.advances import advances, join, moves, possible, still, stride

LANE = 1 << LANE_BITS
WORD = 1 << 64

lanes = st.tuples(*[st.integers(0, LANE - 1) | st.integers(0, 40)] * LANES)
steps = st.tuples(*[st.integers(-300, 300) | st.sampled_from([0, 0, -1, 1])] * LANES)
wraps = st.tuples(*[st.sampled_from([0, 0, 1, 3, 4, LANE_BITS - 1])] * LANES)


def word(values, high=0):
    """A 64-bit operand of these lanes, lowest first, below `high`."""
    return sum(value << LANE_BITS * lane for lane, value in enumerate((*values, high)))


def walk(start, by, wrap, count):
    """Operands whose lanes move alone: one that wraps keeps the bits above."""
    for number in range(count):
        values = []
        for first, step, bits in zip(start, by, wrap, strict=True):
            size = 1 << bits if bits else LANE
            values.append(first // size * size + (first + number * step) % size)
        yield values


def explained(operands):
    """What explains all of them: an advance of rs1; rs2 stays the same."""
    words = np.array([[each, 0] for each in operands], np.uint64)
    found = [advances(old, new) for old, new in pairwise(words)]
    return join(found[0], np.stack(found))


def advanced(operand, found):
    """The operand that the STRIDE of `found` makes of `operand`."""
    values = STRIDE.decode(stride(found))
    return advance(operand, values["addend1"], tuple(values[f"wrap1_{k}"] for k in range(LANES)))


@given(lanes, steps, wraps, st.sampled_from([range(1), range(9, 10), range(99)]), st.integers(3, 6))
@example((5, 7, 3), (-1, 0, 1), (0, 0, 2), range(1), 6)
@example((5, 7, 0), (-1, 0, -1), (0, 0, 2), range(1), 6)
@example((5, 7, 3), (-1, 0, 1), (0, 0, 0), range(9, 10), 3)
@example((40, 0, 3), (-8, 1, 1), (0, 3, 2), range(1), 6)
@example((40, 0, 3), (-8, 1, 1), (0, 3, 2), range(99), 6)
def test_lanes_that_fall_stay_and_wrap_in_all_combinations(start, by, wrap, highs, count):
    """Whoever says that an advance is possible has a STRIDE that makes every operand of the next.

    It is possible if each lane stays within its range where it does not wrap, and what is above
    all lanes, one of `highs` after the other, stays the same.
    """
    operands = [
        word(values, highs[min(number, len(highs) - 1)])
        for number, values in enumerate(walk(start, by, wrap, count))
    ]
    found = explained(operands)
    plain = [bits == 0 for bits in wrap]
    inside = all(
        0 <= first + number * step < LANE
        for first, step, alone in zip(start, by, plain, strict=True)
        for number in range(count)
        if alone
    )
    good = possible(found)
    assert good[1]
    assert good[0] or not inside or len(highs) > 1
    event(f"possible: {bool(good[0])}, wraps: {sum(map(bool, wrap))}, falls: {min(by) < 0}")
    assume(good[0])
    for old, new in pairwise(operands):
        assert advanced(old, found) == new


@given(st.lists(st.integers(0, WORD - 1), min_size=2, max_size=4))
def test_what_is_possible_is_explained_whatever_the_operands(operands):
    found = explained(operands)
    if possible(found)[0]:
        assert all(advanced(old, found) == new for old, new in pairwise(operands))


@given(st.integers(0, WORD - 1), st.integers(-(1 << 47), (1 << 47) - 1), st.integers(2, 5))
def test_a_sum_of_64_bits_explains_any_operands(first, by, count):
    operands = [(first + by * number) % WORD for number in range(count)]
    found = explained(operands)
    assert possible(found).all()
    assert moves(found).tolist() == [by != 0, False]
    assert all(advanced(old, found) == new for old, new in pairwise(operands))


def test_what_stays_does_not_move():
    assert not moves(still((3, 2))).any()
    assert possible(still((3, 2))).all()
