"""When transforms begin whose results would meet rows of A at a bank, and loads meet weights."""

from dataclasses import replace

import pytest

from celosia.isa.functions.table import Function
from celosia.isa.presets import resolve_config
from celosia.sw.ir.program import LocalRows, Products, Space, Transform
from celosia.sw.scheduling.bank_reads import BankReads, WeightReads

BASE = resolve_config("base")
BANK = BASE.scratchpad_bank_rows
NEST = Products(
    a=0,
    w=0,
    c=0,
    a_k=16,
    w_k=16,
    w_column=16,
    c_column=16,
    rows=16,
    k=1,
    pieces=1,
    columns=1,
    last_depth=16,
    last_cols=16,
    accumulate=False,
)
CLEAR = 768
"""Cycles between the transform and the reads."""


def at_bank(bank):
    rows = LocalRows(Space.SCRATCHPAD, bank * BANK + 64, 16, 1, 16)
    source = LocalRows(Space.ACCUMULATOR, 0, 16, 1, 16)
    return Transform(Function.REQUANTIZE, source, 16, (rows,))


def reads(*runs, rows=16):
    """Products of these banks, from a clock to another one."""
    return BankReads(
        [(replace(NEST, a=bank * BANK, rows=rows), begin, end) for bank, begin, end in runs], BASE
    )


def test_results_come_before_products_read_from_their_bank():
    apart = reads((2, 0, 10_000), (3, 10_000, 10_256), (3, 10_256, 11_500))
    assert apart.before(at_bank(3), 11_000, 100, 0) == 10_000 - 100 - CLEAR


@pytest.mark.parametrize(
    ("bank", "latest"), [(1, 11_000), (3, 9_900), (3, 11_500)], ids=["other bank", "before", "over"]
)
def test_who_meets_no_reads_stays(bank, latest):
    apart = reads((2, 0, 10_000), (3, 10_000, 11_500))
    assert apart.before(at_bank(bank), latest, 100, 0) == latest


def test_reads_that_are_met_then_are_passed_as_well():
    twice = reads((3, 9_000, 9_500), (2, 9_500, 10_000), (3, 10_000, 11_000))
    assert twice.before(at_bank(3), 10_500, 100, 0) == 9_000 - 100 - CLEAR


def test_sums_have_to_be_complete():
    apart = reads((2, 0, 10_000), (3, 10_000, 11_500))
    first = 10_000 - 100 - CLEAR
    assert apart.before(at_bank(3), 11_000, 100, first) == first
    assert apart.before(at_bank(3), 11_000, 100, first + 1) == 11_000


def test_reads_that_began_long_ago_are_not_passed():
    apart = reads((2, 0, 10_000), (3, 10_000, 20_000))
    assert apart.before(at_bank(3), 12_048, 100, 0) < 10_000
    assert apart.before(at_bank(3), 12_049, 100, 0) == 12_049


def test_products_of_few_rows_leave_cycles_to_others():
    assert reads((3, 10_000, 11_500), rows=15).before(at_bank(3), 11_000, 100, 0) == 11_000


def weights(*runs, rows=16):
    """Products with weights of these banks, from a clock to another one."""
    return WeightReads(
        [(replace(NEST, w=bank * BANK, rows=rows), begin, end) for bank, begin, end in runs], BASE
    )


FAR = 100_000
"""The clock of products that wait for a load, long after."""


def test_a_load_waits_while_weights_are_read_from_its_bank():
    alone = weights((2, 1_000, 1_256), (3, 1_256, 1_512), (3, 1_512, 1_600), (3, 2_000, 2_100))
    assert alone.over(3 * BANK + 5, 1_300, 100, FAR) == 1_700
    # What is there before the reads, and what comes between them, does not come again.
    assert alone.over(3 * BANK, 1_206, 100, FAR) == 1_650
    assert alone.over(3 * BANK, 1_300, 500, FAR) == 2_200


@pytest.mark.parametrize(
    ("bank", "now"),
    [(1, 1_300), (2, 1_300), (3, 1_000), (3, 1_512)],
    ids=["other bank", "bank before", "before", "over"],
)
def test_a_load_that_meets_no_weights_waits_for_nobody(bank, now):
    alone = weights((2, 1_000, 1_256), (3, 1_256, 1_512))
    assert alone.over(bank * BANK, now, 100, FAR) == now + 100


def test_products_that_wait_for_a_load_do_not_hold_it_up():
    alone = weights((3, 1_256, 1_512))
    assert alone.over(3 * BANK, 1_300, 100, 1_400) == 1_500
    assert alone.over(3 * BANK, 1_300, 100, 1_256) == 1_400
    # Nor do those behind them, which would have read while data come.
    twice = weights((3, 1_256, 1_512), (3, 1_600, 1_700))
    assert twice.over(3 * BANK, 1_300, 100, 1_550) == 1_612
    assert twice.over(3 * BANK, 1_300, 100, 1_600) == 1_612
    assert twice.over(3 * BANK, 1_300, 100, 1_601) == 1_613


def test_products_of_more_rows_than_a_tile_leave_cycles_to_loads():
    assert weights((3, 1_256, 1_512), rows=17).over(3 * BANK, 1_300, 100, FAR) == 1_400
