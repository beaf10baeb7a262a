"""The log of operations, against the counters and the program."""

from itertools import pairwise

import numpy as np
import pytest

from celosia.sim.profile.instructions import UNITS, owners_between, unit_operations
from celosia.sim.profile.log import NEVER
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import RESOURCES
from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.problems import InputError
from celosia.sw.driver.assembly import format_command
from tests.support.reported_runs import product_run

KINDS = {"load": "mvin", "execute": "compute_", "store": "mvout"}


def test_every_operation_is_there_in_program_order(profile):
    for queue, prefix in KINDS.items():
        expected = [
            index
            for index, command in enumerate(profile.commands)
            if format_command(command).startswith(prefix)
        ]
        assert profile.queues[queue].command.tolist() == expected
    assert profile.lost == 0


def test_moments_of_an_operation_are_in_order(profile):
    for name, queue in profile.queues.items():
        moments = [queue.entered, queue.started, queue.done]
        if name == "execute":
            moments = [queue.entered, queue.started, queue.began, queue.read, queue.done]
        for before, after in pairwise(moments):
            assert (before != NEVER).all()
            assert (before <= after).all()
        assert moments[-1].max() <= profile.cycles


def test_the_array_has_each_product_for_its_rows(profile, report):
    """Without bank conflicts, the cycles of products are those of rows and of their weights."""
    counters = report.total.counters
    unit = unit_operations(profile)["execute"]
    inside = unit.cycles.sum()
    assert counters["array_rows"] <= inside <= counters["array_rows"] + counters["array_weights"]
    assert (unit.begin[1:] >= unit.end[:-1]).all()


def test_owners_add_up_to_the_counters(report):
    """The hardware is busy from the cycle after the first command to that after the last answer."""
    counters = report.total.counters
    log = report.operators[0].executed.log
    end = np.array([log.cycles + 1])
    for resource, table in RESOURCES.items():
        spans = log.owners[resource]
        (found,) = owners_between(spans, len(table.owners), np.array([0]), end)
        assert found.tolist() == [counters[owner.name] for owner in table.owners]


def test_activity_of_the_bus_is_its_beats(profile, report):
    assert profile.activity["read data"].sum() == report.total.counters["read_beats"]
    assert profile.activity["write data"].sum() == report.total.counters["write_beats"]
    # Each bank serves one request in a cycle.
    for busy in profile.activity.values():
        assert busy.max() <= profile.slot_cycles


def test_each_unit_has_one_operation_at_a_time(profile):
    for name, unit in unit_operations(profile).items():
        assert name in UNITS
        assert (unit.cycles >= 0).all()
        assert unit.cycles.sum() <= profile.cycles
        assert (unit.waited >= 0).all()


def test_without_a_clock_there_is_no_log():
    with pytest.raises(InputError, match="functional has no clock"):
        run_workload(
            RunOptions(
                workload="matmul",
                target=Target(simulator="functional"),
                watching=Watching(log=True),
            )
        )


@pytest.mark.slow
@pytest.mark.parametrize("issue", ["stream", "ring"])
def test_both_simulators_log_the_same(issue):
    ours, theirs = (product_run(name, issue=issue).profile for name in ("verilator", "amaranth"))
    assert ours is not None
    assert theirs is not None
    assert ours.document() == theirs.document()


def test_commands_of_a_second_program_are_counted_from_its_own_first(stuck):
    """It ran behind a product on the same device: its load behind the loop is command 3."""
    profile = Profile.from_document(stuck["profile"])
    for queue, prefix in KINDS.items():
        found = [] if queue not in profile.queues else profile.queues[queue].command.tolist()
        expected = [
            index
            for index, command in enumerate(profile.commands)
            if format_command(command).startswith(prefix)
        ]
        assert found == expected[: len(found)]
    assert profile.queues["load"].command[0] == 3
