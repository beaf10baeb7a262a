"""What the parts of a report must have in common: the numbers at each end of their ranges."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from celosia.sim.profile.packing import pack, unpack
from celosia.sim.reporting import run_facts
from celosia.sim.reporting.run_facts import check_facts
from celosia.sw.ir.matmul import MatMul

Column = Callable[[np.ndarray], Any]


def facts(document: dict[str, Any]) -> dict[str, str]:
    return dict(check_facts(document))


def with_column(document: dict[str, Any], *path: str, change: Column) -> dict[str, Any]:
    """`document` with the numbers at `path` in its profile changed in place."""
    document = copy.deepcopy(document)
    inner = document["profile"]
    for key in path[:-1]:
        inner = inner[key]
    numbers = np.array(unpack(inner[path[-1]]))
    found = change(numbers)
    inner[path[-1]] = pack(numbers if found is None else found)
    return document


def put(place: int, value: int) -> Column:
    def change(numbers: np.ndarray) -> None:
        numbers[place] = value

    return change


def longer(numbers: np.ndarray) -> np.ndarray:
    return np.append(numbers, numbers[-1])


def test_a_run_has_nothing_wrong(document, stuck):
    assert facts(document) == facts(stuck) == {}


def test_commands_belong_to_operators_that_there_are(document):
    most = len(document["profile"]["operators"]) - 1
    assert facts(with_column(document, "operator", change=put(0, most))) == {}
    for wrong in (most + 1, -1):
        found = facts(with_column(document, "operator", change=put(0, wrong)))
        assert found == {"$.profile.operator": f"{wrong} is not in 0..{most}"}
    (message,) = facts(with_column(document, "operator", change=longer)).values()
    commands = len(unpack(document["profile"]["operator"]))
    assert message == f"has {commands + 1} numbers, but the program {commands} commands"


@pytest.mark.parametrize("field", ["entered", "done"])
def test_times_are_never_or_within_the_run(document, field):
    cycles = document["profile"]["cycles"]
    path = ("queues", "execute", field)
    for right in (-1, cycles):
        assert facts(with_column(document, *path, change=put(0, right))) == {}
    for wrong in (-2, cycles + 1):
        found = facts(with_column(document, *path, change=put(0, wrong)))
        assert found == {f"$.profile.queues.execute.{field}": f"{wrong} is not in -1..{cycles}"}


def test_operations_are_of_commands_of_the_program(document):
    most = len(unpack(document["profile"]["operator"])) - 1
    path = ("queues", "load", "command")
    assert facts(with_column(document, *path, change=put(0, most))) == {}
    for wrong in (-1, most + 1):
        found = facts(with_column(document, *path, change=put(0, wrong)))
        assert found == {"$.profile.queues.load.command": f"{wrong} is not in 0..{most}"}


def test_lists_of_a_table_are_equally_long(document):
    (place, message), *_ = facts(
        with_column(document, "queues", "load", "done", change=longer)
    ).items()
    assert place == "$.profile.queues.load"
    assert message.startswith("the lists have different lengths: command ")


def test_owners_ascend(document):
    def swapped(numbers: np.ndarray) -> None:
        numbers[1] = numbers[2] + 1

    def equal(numbers: np.ndarray) -> None:
        numbers[1] = numbers[2]

    path = ("owners", "array", "start")
    assert facts(with_column(document, *path, change=equal)) == {}
    found = facts(with_column(document, *path, change=swapped))
    assert found == {"$.profile.owners.array.start": "the cycles must ascend"}


def test_a_slot_is_busy_as_long_as_it_is_at_most(document):
    slot, name = document["profile"]["slot_cycles"], next(iter(document["profile"]["activity"]))
    assert facts(with_column(document, "activity", name, change=put(0, slot))) == {}
    for wrong in (-1, slot + 1):
        found = facts(with_column(document, "activity", name, change=put(0, wrong)))
        assert found == {f"$.profile.activity.{name}": f"{wrong} is not in 0..{slot}"}


def test_parts_begin_within_the_run(document):
    document = copy.deepcopy(document)
    part, commands = document["profile"]["parts"][0], len(unpack(document["profile"]["operator"]))
    part["start"], part["first"] = document["profile"]["cycles"], commands
    assert facts(document) == {}
    part["start"], part["first"] = document["profile"]["cycles"] + 1, commands + 1
    assert facts(document) == {
        "$.profile.parts[0].first": f"{commands + 1} is not in 0..{commands}",
        "$.profile.parts[0].start": f"{document['profile']['cycles'] + 1} is not in "
        f"0..{document['profile']['cycles']}",
    }


@pytest.mark.parametrize("key", ["cycles", "read_bytes", "write_bytes"])
def test_counters_that_a_report_needs_are_there(document, key):
    document = copy.deepcopy(document)
    del document["operators"][0]["counters"][key]
    assert facts(document) == {"$.operators[0].counters": f"there is no {key!r}"}


def test_a_part_has_cycles_if_it_has_counters(document):
    document = copy.deepcopy(document)
    document["operators"][0]["cycles"] = None
    many = len(document["operators"][0]["counters"])
    assert facts(document) == {"$.operators[0].cycles": f"None, but there are {many} counters"}


def test_the_work_is_that_of_the_problem(document):
    document = copy.deepcopy(document)
    document["operators"][0]["macs"] += 1
    macs = 13 * 9 * 10
    assert facts(document) == {
        "$.operators[0].problem": f"13x9x10 are {macs} multiply-accumulates, but macs is {macs + 1}"
    }


def test_only_what_stopped_has_a_failure(document, stuck):
    assert facts({**document, "status": "stopped"}) == {
        "$.status": "'stopped', but there is no failure"
    }
    assert facts({**stuck, "status": "right"}) == {"$.status": "'right', but there is a failure"}


def test_names_of_tables_are_known(document):
    document = copy.deepcopy(document)
    owners = document["profile"]["owners"]
    owners["arrow"] = owners.pop("array")
    place, message = next(iter(check_facts(document)))
    assert place == "$.profile.owners.arrow"
    assert message.startswith("'arrow' is none of array")


@pytest.mark.parametrize(
    ("m", "n", "k", "scale", "large"),
    [
        # Results of int32 have four bytes each, those of int8 one.
        (1 << 14, 1 << 14, 1, None, True),
        (1 << 14, 1 << 14, 1, 1.0, False),
        (1 << 14, 1, 1 << 15, 1.0, True),
        (1, 1 << 14, 1 << 15, 1.0, True),
    ],
)
def test_no_matrix_of_a_product_is_larger_than_memory(m, n, k, scale, large, monkeypatch):
    monkeypatch.setattr(run_facts, "MAX_MEMORY_BYTES", 1 << 28)
    problem = MatMul(m=m, n=n, k=k, scale=scale)
    text = f"{m}x{n}x{k}: a matrix has over 268,435,456 bytes"
    found = list(run_facts._problem("$", problem, m * n * k))
    assert found == ([("$", text)] if large else [])
    assert list(run_facts._problem("$", problem, m * n * k + 1))[-1] == (
        "$",
        f"{m}x{n}x{k} are {m * n * k} multiply-accumulates, but macs is {m * n * k + 1}",
    )
