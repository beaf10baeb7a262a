"""Where cycles went, by operator, owner and group, of counts that are written down here."""

import pytest

from celosia.isa.registers.events import TABLES
from celosia.sim.profile.losses import (
    Loss,
    clocked_operators,
    group_cycles,
    known_resources,
    losses,
)

ARRAY, READ = TABLES[0], next(table for table in TABLES if table.name == "read")
USEFUL = "array_rows"


def run(**operators):
    """A run whose operators have these counters."""
    parts = [{"workload": name, "counters": counters} for name, counters in operators.items()]
    return {"operators": parts}


def test_what_the_array_lost_is_all_but_its_useful_cycles_the_most_first():
    document = run(
        b={USEFUL: 900, "array_padding": 5, "wait_token": 7, "drain": 0, "read_data": 99},
        a={USEFUL: 1, "wait_token": 5, "array_d": 5},
        host={},
    )
    assert losses(document) == [
        Loss("b", "wait_token", 7),
        Loss("a", "array_d", 5),
        Loss("a", "wait_token", 5),
        Loss("b", "array_padding", 5),
    ]


def test_every_owner_of_the_array_but_the_first_is_a_loss():
    names = [owner.name for owner in ARRAY.owners]
    assert names[0] == USEFUL
    found = losses(run(all={name: number for number, name in enumerate(names, 1)}))
    assert [loss.owner for loss in found] == names[:0:-1]
    assert [loss.cycles for loss in found] == [*range(len(names), 1, -1)]
    assert all(loss.meaning != loss.owner for loss in found)
    assert Loss("x", "nobody", 1).meaning == "nobody"


def test_operators_without_counters_have_no_cycles():
    document = run(a={"cycles": 1}, host={})
    assert [part["workload"] for part in clocked_operators(document)] == ["a"]


def test_cycles_of_a_group_are_those_of_its_owners():
    counters = {owner.name: 1 for table in TABLES for owner in table.owners} | {"read_data": 10}
    for table in TABLES:
        found = group_cycles(table.name, counters)
        assert sum(found.values()) == len(table.owners) + 9 * (table is READ)
        assert set(found) == {owner.group for owner in table.owners}
    assert not any(group_cycles(READ.name, {"cycles": 4}).values())


@pytest.mark.parametrize(
    ("counters", "known"),
    [
        ({}, ()),
        ({"read_none": 40, "write_none": 40}, ()),
        ({"read_none": 39, "read_data": 1, "drain": 2}, (ARRAY.name, "read")),
    ],
)
def test_a_resource_is_known_if_it_had_anything_to_do(counters, known):
    assert known_resources(counters) == known
