"""`LoadPath`: what it says that it does, in each cycle, and which name that has."""

from itertools import groupby
from typing import Any

import pytest

from celosia.hw.decode.ops import Space
from celosia.hw.load.path import LoadPath, LoadState
from celosia.isa.presets import PRESETS
from tests.hw.load.read_memory import ReadMemory
from tests.hw.load.test_path import EVERYTHING, load
from tests.support.reused_simulator import shared_design
from tests.support.streams import simulate

TINY = PRESETS["tiny"]
ROW_BEATS = TINY.dim * TINY.max_blocks // TINY.bus_bytes
"""Beats of a row of the scratchpad that is as long as a load may be."""
WHOLE_ROW = TINY.dim * TINY.max_blocks


def told(
    op: dict[str, Any], *, bank_free_at: int = 0, **memory: Any
) -> list[tuple[LoadState, int]]:
    """The states of a load that is taken in cycle 0, and for how many cycles each lasts.

    Local memories take nothing before the cycle `bank_free_at`; `memory` is said of `ReadMemory`.
    """
    dut, states = shared_design(LoadPath, TINY), []
    bus = ReadMemory(TINY, dut.port, **memory)

    async def drive(ctx) -> None:
        ctx.set(dut.limits, EVERYTHING)
        ctx.set(dut.op.payload, op)
        ctx.set(dut.op.valid, 1)
        done = False
        while not done:
            for port in (dut.scratchpad, dut.accumulator):
                ctx.set(port.ready, bus.cycle >= bank_free_at)
            *_, state, done = await ctx.tick().sample(dut.state, dut.done)
            states.append(LoadState(state))
            ctx.set(dut.op.valid, 0)
        *_, state = await ctx.tick().sample(dut.state)
        states.append(LoadState(state))
        bus.finished = True

    simulate(dut, bus.run, drive)
    return [(state, len([*cycles])) for state, cycles in groupby(states)]


BEGIN = [(LoadState.IDLE, 2), (LoadState.STAGES, LoadPath.ADDRESS_LATENCY)]
"""The state is told a cycle late."""
END = (LoadState.STAGES, LoadPath.ROW_LATENCY)


@pytest.mark.parametrize("latency", [4, 30])
def test_until_the_first_beat_it_waits_for_an_answer(latency):
    found = told(load(cols=WHOLE_ROW), latency=latency)
    assert found == [*BEGIN, (LoadState.LATENCY, latency - 1), (LoadState.DATA, ROW_BEATS), END]


@pytest.mark.parametrize("blocked", [2, 40])
def test_a_memory_that_takes_no_address_has_no_bandwidth(blocked):
    found = told(
        load(cols=WHOLE_ROW), latency=4, ar_blocked_until=LoadPath.ADDRESS_LATENCY + blocked
    )
    stages = LoadPath.ADDRESS_LATENCY - 1
    assert found == [
        (LoadState.IDLE, 2),
        (LoadState.STAGES, stages),
        (LoadState.BANDWIDTH, blocked),
        (LoadState.STAGES, 1),
        (LoadState.LATENCY, 3),
        (LoadState.DATA, ROW_BEATS),
        END,
    ]


@pytest.mark.parametrize("pause", [1, 5])
def test_a_memory_that_pauses_within_a_burst_has_no_bandwidth(pause):
    found = told(load(cols=WHOLE_ROW), latency=4, pause=pause)
    beats = [(LoadState.DATA, 1), (LoadState.BANDWIDTH, pause)] * ROW_BEATS
    assert found == [*BEGIN, (LoadState.LATENCY, 3), *beats[:-1], END]


@pytest.mark.parametrize("op", [load(cols=WHOLE_ROW), load(cols=16, space=Space.ACCUMULATOR)])
def test_a_row_that_waits_for_its_bank_is_told_unless_a_beat_arrives(op):
    found = told(op, latency=4, bank_free_at=60)
    begin, waits = found[:4], [cycles for state, cycles in found if state is LoadState.BANK]
    assert begin[:3] == [*BEGIN, (LoadState.LATENCY, 3)]
    assert begin[3][0] is LoadState.DATA
    first = sum(cycles for _, cycles in begin)
    assert waits == [60 + 1 - first]
