"""Whose cycles they were, on a terminal."""

import io

import pytest
from rich.console import Console

from celosia.isa.registers.events import ARRAY_OWNERS, TABLES
from celosia.sim.command.outputs.owner_tables import owner_table
from celosia.sim.run.report import Measurement


def columns(counters, **more):
    table = owner_table(Measurement(name="m", **more, counters=counters))
    return [[str(cell) for cell in column.cells] for column in table.columns]


def text_of(counters, *, every):
    paper = io.StringIO()
    table = owner_table(Measurement(name="m", counters=counters), every=every)
    Console(width=120, file=paper).print(table)
    return paper.getvalue()


def test_shares_of_owners_are_of_their_sum():
    names, _, shares, bars, _ = columns({"cycles": 200, "array_rows": 150, "drain": 50}, cycles=180)
    first = names.index("array_rows")
    assert shares[first] == "75.0%"
    assert bars[first].startswith("█")
    assert sum(float(share.rstrip("%")) for share in shares if share) == pytest.approx(100)


def test_the_largest_come_first_and_the_small_ones_together():
    counters = {"cycles": 100_000, "array_rows": 60_000, "drain": 39_940, "wait_issue": 40}
    counters |= {"wait_token": 20, "read_data": 30_000, "read_none": 69_990, "read_token": 10}
    names, cycles, _, _, meanings = columns(counters)
    assert names == [
        "array_rows",
        "drain",
        "2 more",
        "DMA, reading",
        "DMA, writing",
        "The vector unit",
    ]
    assert cycles[2] == "60"
    assert (cycles[3], meanings[3]) == ("30,000", "read_none 70.0%")


@pytest.mark.parametrize(("small", "own"), [(100, True), (99, False)])
def test_an_owner_of_a_hundredth_has_a_line_of_its_own(small, own):
    """The table has cycles of the array, and those that another unit waited for."""
    counters = {"cycles": 10_000, "array_rows": 10_000 - small, "drain": small}
    counters |= {"read_data": 10_000 - small, "read_token": small}
    names, _, _, _, meanings = columns(counters)
    assert ("drain" in names) == ("1 more" not in names) == own
    assert (meanings[names.index("DMA, reading")] == "read_token 1.0%") == own


def test_five_owners_have_a_line_of_their_own_and_others_one_together():
    """And of another unit, the three that it waited for most."""
    counters = {owner.name: 100 + n for n, owner in enumerate(ARRAY_OWNERS)}
    cycles = sum(counters.values())
    reading = TABLES[1]
    waits = [owner for owner in reading.owners if owner.group not in reading.work]
    counters |= {owner.name: 2 * cycles // (n + 5) for n, owner in enumerate(waits[:5])}
    names, amounts, shares, _, meanings = columns({**counters, "cycles": cycles})
    largest = [owner.name for owner in reversed(ARRAY_OWNERS)]
    assert names[:6] == [*largest[:5], f"{len(ARRAY_OWNERS) - 5} more"]
    assert amounts[0] == f"{99 + len(ARRAY_OWNERS):,}"
    rest = sum(100 + n for n in range(len(ARRAY_OWNERS) - 5))
    assert amounts[5] == f"{rest:,}"
    assert shares[5] == f"{100 * rest / cycles:.1f}%"
    assert meanings[6] == ", ".join(
        f"{owner.name} {200 / (n + 5):.1f}%" for n, owner in enumerate(waits[:3])
    )


@pytest.mark.parametrize(
    ("share", "bar"),
    [(0, ""), (1 / 96, "▏"), (7 / 96, "▉"), (8 / 96, "█"), (0.5, "█" * 6), (0.51, "█" * 6 + "▏")],
)
def test_a_bar_has_eighths_of_twelve_cells(share, bar):
    *_, bars, _ = columns({"cycles": 9600, "array_rows": round(9600 * share), "drain": 9600})
    names, *_ = columns({"cycles": 9600, "array_rows": round(9600 * share), "drain": 9600})
    found = bars[names.index("array_rows")] if "array_rows" in names else ""
    assert found == bar


def test_it_is_short_unless_all_are_asked_for():
    counters = {owner.name: 1 for unit in TABLES for owner in unit.owners}
    counters["cycles"] = len(ARRAY_OWNERS)
    short, long = (text_of(counters, every=every) for every in (False, True))
    assert len(short.splitlines()) < 20
    assert "--owners shows them" in short
    for owner in (owner for unit in TABLES for owner in unit.owners):
        assert owner.name in long


def test_of_a_run_that_was_stopped_it_shows_what_was_counted():
    names, *_ = columns({}, until_stopped={"cycles": 10, "wait_token": 10})
    assert "wait_token" in names
