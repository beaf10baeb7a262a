"""Weights and rows meet at banks."""

import pytest

from celosia.isa.encoding import WeightType
from celosia.isa.presets import PRESETS
from celosia.sw.timeline.array import ArrayUnit
from celosia.sw.timeline.banks import Banks

BASE = PRESETS["base"]
BANK, DIM = BASE.scratchpad_bank_rows, BASE.dim


def unit(config=BASE):
    """An array, and the scratchpad's banks."""
    banks = Banks(BANK, config.scratchpad_banks)
    sums = Banks(config.accumulator_bank_rows, config.accumulator_banks)
    return ArrayUnit(config, banks, sums), banks


def take(array, a, w, begin=0, rows=DIM, transposed=False, weights=WeightType.INT8):
    kind = {"transposed": transposed, "weights": weights}
    return array.take(begin, (a, w, 0), rows, adds=False, **kind)


def begins(a, w, transposed=False):
    array, _ = unit()
    return [take(array, a, w, transposed=transposed) for _ in range(20)]


@pytest.mark.parametrize("transposed", [False, True])
def test_rows_wait_for_weights_of_their_bank(transposed):
    """An access in each cycle: tiles of rows and of weights take twice as long as rows alone."""
    apart, together = (begins(0, w, transposed=transposed) for w in (BANK, 100))
    assert apart[-1] - apart[0] == 19 * DIM
    assert together[-1] - together[0] == pytest.approx(2 * 19 * DIM, abs=DIM)


@pytest.mark.parametrize("transposed", [False, True])
def test_the_transposer_is_between_rows_and_weights_of_their_own_bank(transposed):
    """Its rows are read long before they enter the array, and have no weights to wait for."""
    found = []
    for w in (2 * BANK, BANK + 100):
        array, _ = unit()
        take(array, 5, 3 * BANK)
        found.append(take(array, BANK, w, begin=6, rows=2, transposed=transposed))
    apart, together = found
    assert (apart < together) is not transposed


@pytest.mark.parametrize(
    ("kinds", "cycles"),
    [("pppp", 24), ("llll", 48), ("plpl", 48), ("tttt", 48), ("ppll", 40)],
)
def test_a_tile_in_pairs_of_lines_takes_half_the_cycles(kinds, cycles):
    """From the first product to the last.

    What is no pair (l), or passes the transposer (t), waits for the shadow registers of whole rows.
    """
    array, _ = unit(PRESETS["base-int4"])
    begins = [
        take(
            array,
            0,
            BANK,
            rows=4,
            weights=WeightType.INT8 if kind == "l" else WeightType.INT4,
            transposed=kind == "t",
        )
        for kind in kinds
    ]
    assert begins[-1] - begins[0] == cycles


def test_without_pairs_a_tile_of_int4_takes_as_long_as_one_of_int8():
    array, _ = unit()
    begins = [take(array, 0, BANK, rows=4, weights=WeightType.INT4) for _ in range(4)]
    assert begins[-1] - begins[0] == 3 * DIM


def test_weights_are_read_before_their_rows():
    array, banks = unit()
    begin = take(array, 0, BANK, begin=100)
    assert begin - 100 == 5
    assert banks.delay(BANK, 103, 113, 10) == DIM
    assert banks.delay(BANK, 103 + DIM, 113 + DIM, 10) == 0


def test_a_tile_that_comes_too_late_waits_until_the_one_before_has_left_the_transposer():
    """Each fills it in 16 cycles, and enters the array in the 16 behind; rows follow 2 later.

    The third one could fill it 3 cycles after the second one began to leave, but not beside it.
    """
    array, _ = unit()
    begins = [take(array, 0, BANK, begin=begin, transposed=True) for begin in (100, 102, 135)]
    assert begins == [100 + 2 + DIM + 2, 100 + 2 + 2 * DIM + 2, 100 + 2 + 4 * DIM + 2]


def test_a_tile_fills_the_transposer_behind_weights_that_pass_it_by():
    """Weights of the second product are read until the first one's rows are in, and 14 later."""
    array, _ = unit()
    first = take(array, 0, BANK, begin=100)
    take(array, 16, BANK, begin=102)
    third = take(array, 0, 2 * BANK, begin=104, transposed=True)
    assert third == first + DIM - 2 + 2 * DIM + 2


def test_weights_of_tall_rows_come_as_soon_as_those_before_are_in_the_array():
    """The shadow registers are free when the first of 64 rows has entered, not the last."""
    array, banks = unit()
    first = take(array, 0, BANK, rows=64)
    take(array, 0, BANK, rows=64)
    assert banks.delay(BANK, first + 2, first + 3, 1) > DIM / 2
    assert banks.delay(BANK, first + 40, first + 50, 10) == 0
