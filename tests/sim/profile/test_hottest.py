"""The instructions that took the most, of a log that is written down here."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding import FENCE, FLUSH, MVIN, MVOUT
from celosia.sim.command import report_commands
from celosia.sim.profile.hottest import HEADS, by_command, hottest, rows_of
from celosia.sim.profile.log import NEVER
from celosia.sim.reporting.annotate import annotate
from tests.sim.profile.test_instructions import operations, profile_of

LOAD, PRODUCT, OTHER = "mvin dram=0x40", "flush", "fence"


@pytest.fixture(scope="module")
def profile():
    queues = {
        "load": operations(
            # command, entered, started, began, read, done
            (1, 0, 3, NEVER, NEVER, 8),
            (1, 1, 5, NEVER, NEVER, 11),
        ),
        "execute": operations((2, 0, 4, 5, 10, 14), (3, 1, 7, 10, 18, 19)),
        "store": operations((4, 2, NEVER, NEVER, NEVER, NEVER)),
    }
    return replace(
        profile_of(**queues),
        commands=(
            FENCE.encode(),
            MVIN.encode(dram=64),
            FLUSH.encode(),
            FENCE.encode(),
            MVOUT.encode(),
        ),
        operators=("", "first", "second"),
        operator=np.array([0, 1, 1, 2, 2]),
    )


def test_an_instruction_has_what_all_of_its_operations_took(profile):
    found = by_command(profile)
    assert sorted(found) == [1, 2, 3]  # The others were no operation of any unit.
    numbers = {n: (hot.cycles, hot.lost, hot.waited, hot.total) for n, hot in found.items()}
    # Loads: 4 to 8 and 9 to 11.  Products: 6 to 10, behind five lost cycles and one, and 11 to 18.
    assert numbers == {1: (8, 0, 7, 8), 2: (5, 6, 4, 11), 3: (8, 0, 6, 8)}
    assert [hot.unit for hot in found.values()] == ["DMA read", "array", "array"]
    assert {n: hot.operator for n, hot in found.items()} == {1: "first", 2: "first", 3: "second"}


def test_the_hottest_come_first_by_what_they_took_and_lost_then_by_their_place(profile):
    assert [hot.command for hot in hottest(profile, 9)] == [2, 1, 3]
    assert [hot.command for hot in hottest(profile, 2)] == [2, 1]
    assert hottest(profile, 0) == []


def test_cells_are_in_the_order_of_the_heads(profile):
    (cells,) = rows_of(hottest(profile, 1))
    assert dict(zip(HEADS, cells, strict=True)) == {
        "command": 2, "operator": "first", "unit": "array", "cycles": 5, "lost": 6, "waited": 4,
        "instruction": "flush",
    }  # fmt: skip


def test_a_listing_has_the_cycles_of_each_line(profile):
    lines = [line.split() for line in annotate(profile).splitlines() if line]
    assert lines[0] == ["#", "cycles", "lost", "waited", "unit,", "operator"]
    assert [" ".join(line) for line in lines if line[0] == "#"][1:] == [
        "# before all operators", "# first", "# second",
    ]  # fmt: skip
    numbers = [line[line.index("#") + 1 :] for line in lines if "#" in line[1:]]
    assert [" ".join(each) for each in numbers] == ["8 0 7 DMA read", "5 6 4 array", "8 0 6 array"]


def test_a_table_says_of_how_many_instructions_its_hottest_are(profile):
    table = report_commands._top_table(profile, 1)
    assert table.title == "The hottest of 5 instructions"
    assert table.row_count == 1
