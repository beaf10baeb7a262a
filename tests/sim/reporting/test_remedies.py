"""When memory bounds a run, and what advice then says about weights."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from celosia.sim.profile.log import Spans
from celosia.sim.profile.losses import Loss
from celosia.sim.profile.resources import RESOURCES
from celosia.sim.reporting import remedies
from celosia.sim.reporting.remedies import bounded_by_memory, remedy
from tests.sim.profile.test_instructions import CYCLES, operations, profile_of


def document(cycles: int, bound: str = "memory", **more: Any) -> dict[str, Any]:
    return {
        "limit": {"bound": bound, "cycles": 1000},
        "cycles": cycles,
        "config": {"dim": 16, "bus_bits": 128, "read_requests": 8, "load_queue": 4},
        "memory": {"bytes_per_cycle": 32, "latency": 40},
        "profile": None,
        **more,
    }


def advice(owner: str, cycles: int, **more: Any) -> str:
    part = {"dram_write_bytes": 4096, "commands": 1, "cycles": 640}
    return remedy(Loss("x", owner, cycles), part, document(2000, **more))


@pytest.mark.parametrize(
    ("cycles", "bound", "is_bounded"),
    [
        (1000, "memory", True),
        (1099, "memory", True),
        (1101, "memory", False),
        (1000, "compute", False),
        (1000, "mixed", True),
    ],
)
def test_a_run_is_bounded_by_memory_up_to_a_tenth_more_than_its_limit(cycles, bound, is_bounded):
    assert bounded_by_memory(document(cycles, bound)) is is_bounded


def test_a_run_without_a_limit_is_bounded_by_nothing():
    assert not bounded_by_memory({**document(1), "limit": None})


@pytest.mark.parametrize(("bytes_per_cycle", "bus_bits", "rate"), [(32, 128, 16), (8, 128, 8)])
def test_rates_are_those_of_the_slower_of_memory_and_bus(bytes_per_cycle, bus_bits, rate):
    more: dict[str, Any] = {"memory": {"bytes_per_cycle": bytes_per_cycle, "latency": 40}}
    assert f"{1024 * rate / 1024:,.1f} KiB loaded" in advice("wait_load_latency", 1024, **more)
    assert f"all that it has, {rate} bytes" in advice("wait_load_bandwidth", 1024, **more)
    assert f"4,096 bytes need {4096 / rate:,.0f} cycles" in advice("wait_accumulator", 9, **more)


def test_the_last_response_is_no_cycle_that_blocks_can_save():
    assert "40 cycles are the last response of memory; what is more (60)" in advice("drain", 100)
    assert "what is more (0)" in advice("drain", 40)
    assert "what is more (0)" in advice("drain", 7)


def test_a_full_queue_is_named_by_its_depth_and_one_command_comes_alone():
    assert "behind a full queue of 4 wait" in advice("wait_queue_load", 9)
    assert "Its 1 command comes every 640.0 cycles" in advice("wait_command", 9)


def test_what_is_behind_the_last_product_is_told_by_units(monkeypatch):
    """The array is done in cycle 12 of 40: the lanes work for 9 cycles from then on, writes 5."""
    numbers = {
        name: {owner.name: number for number, owner in enumerate(table.owners)}
        for name, table in RESOURCES.items()
    }
    spans = {
        "vector": [(0, "vector_gelu"), (21, "vector_none")],
        "write": [(0, "write_data"), (3, "write_none"), (15, "write_data"), (20, "write_none")],
        "read": [(0, "read_data"), (30, "read_none")],
    }
    profile = replace(
        profile_of(execute=operations((0, 0, 3, 4, 9, 14), (1, 1, 9, 10, 11, 16))),
        owners={
            name: Spans(
                np.array([start for start, _ in found]),
                np.array([numbers[name][owner] for _, owner in found]),
            )
            for name, found in spans.items()
        },
    )
    monkeypatch.setattr(remedies, "_profile", lambda _: profile)
    text = remedies._behind(Loss("x", "wait_command", 7), {})
    assert f"in the last {CYCLES - 12} cycles: " in text
    assert "(9 cycles of the vector unit) and stored (5 for the bus)" in text
    assert text.endswith("saves at most 7 cycles.")


def test_requests_in_flight_are_those_of_reads():
    config = document(9)["config"] | {"write_requests": 3}
    text = advice("wait_load_requests", 9, config=config)
    assert text == (
        "At a latency of 40, 8 requests in flight are too few: longer rows save at most 9 cycles."
    )


@pytest.mark.parametrize(
    ("operator", "inside"),
    [
        ("3.scores.text0.head1", [0]),
        ("3.attention", [0, 1, 3]),
        ("4.up", [2]),
    ],
)
def test_commands_belong_to_an_operator_by_its_name_or_that_of_its_group(operator, inside):
    """A report tells operators one by one, or in groups: heads are parts of their attention."""
    names = ("3.scores.text0.head1", "3.scores.text0.head2", "4.up")
    profile = replace(
        profile_of(execute=operations((0, 0, 3, 4, 9, 14))),
        operators=names,
        operator=np.array([0, 1, 2, 1]),
    )
    parts = [{"workload": name} for name in ("3.attention", *names)]
    found = remedies._inside(
        Loss(operator, "wait_command", 7), {"operators": parts}, profile, np.arange(4)
    )
    assert found.nonzero()[0].tolist() == inside
