"""When memory bounds a run, and what advice then says about weights."""

from typing import Any

import pytest

from celosia.sim.profile.losses import Loss
from celosia.sim.reporting.remedies import bounded_by_memory, remedy


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
