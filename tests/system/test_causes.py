"""Each counter of cycles counts what its meaning says: N cycles where N cycles are provoked."""

from contextlib import closing

import pytest

from celosia.isa.registers.events import TABLES
from celosia.sim.devices.devices import open_device
from tests.support.causes import CASES, START, Case

SIZE = 1 << 16
WITHIN = 2


def counted(case: Case, knob: int) -> dict[str, int]:
    with closing(open_device("verilator", case.config, case.timing(knob), SIZE)) as device:
        return device.run([*START, *case.program(knob)]).counters


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_cause_is_counted(case):
    low, high = case.knob
    before, after = counted(case, low), counted(case, high)
    grown = {name: after[name] - before[name] for name in after}
    for name, slope in case.grows.items():
        assert abs(grown[name] - slope * (high - low)) <= WITHIN, grown
    for unit in TABLES:
        for counters in (before, after):
            assert sum(counters[owner.name] for owner in unit.owners) == counters["cycles"]


def test_every_cause_has_a_case():
    owners = {owner.name for unit in TABLES for owner in unit.owners}
    assert {name for case in CASES for name in case.grows} == owners
