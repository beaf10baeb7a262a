"""`Supervisor`: limits are exact, resets and interrupts come once."""

import pytest

from celosia.hw.host.supervisor import Supervisor
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import BusId
from tests.support.streams import simulate


def faults_after(setting: dict, busy: list[int], progress=lambda cycle: False) -> list[tuple]:
    """The cycles and causes of faults while the core is `busy`."""
    dut, found = Supervisor(), []

    async def testbench(ctx):
        for name, value in setting.items():
            ctx.set(getattr(dut, name), value)
        await ctx.tick().repeat(4)
        for cycle, core_busy in enumerate(busy):
            ctx.set(dut.core_busy, core_busy)
            ctx.set(dut.progress, progress(cycle))
            assert ctx.get(dut.busy) == core_busy
            if ctx.get(dut.fault.valid):
                found.append((cycle, ctx.get(dut.fault.cause)))
            await ctx.tick()

    simulate(dut, testbench)
    return found


@pytest.mark.parametrize("budget", [1, 2, 7])
def test_a_program_may_be_busy_for_its_budget(budget):
    pause = [0, 0]
    enough, too_long = [1] * budget, [1] * (budget + 1)
    busy = enough + pause[:1] + enough + pause + too_long
    wanted = [(len(busy) - 1, Cause.CYCLE_BUDGET)]
    assert faults_after({"budget": budget}, [*busy, 1, 1]) == wanted


@pytest.mark.parametrize("patience", [1, 3])
def test_without_progress_patience_ends(patience):
    busy = [0, 0] + [1] * 40 + [0] + [1] * (patience + 2)
    last = len(busy) - 2
    found = faults_after(
        {"patience": patience}, busy, lambda cycle: cycle < 42 and cycle % (patience + 1) == 0
    )
    assert found[-1] == (last, Cause.WATCHDOG)
    assert len(found) == 1


def test_of_two_limits_that_end_in_one_cycle_the_budget_is_told():
    assert faults_after({"budget": 3, "patience": 3}, [1] * 4) == [(3, Cause.CYCLE_BUDGET)]
    assert faults_after({"budget": 4, "patience": 3}, [1] * 4) == [(3, Cause.WATCHDOG)]


def test_without_limits_nothing_ends():
    assert faults_after({}, [1] * 60) == []


def test_a_limit_can_be_changed_and_lifted():
    dut = Supervisor()

    async def faults(ctx, cycles):
        found = 0
        ctx.set(dut.core_busy, 1)
        for _ in range(cycles):
            found += ctx.get(dut.fault.valid)
            await ctx.tick()
        ctx.set(dut.core_busy, 0)
        await ctx.tick().repeat(2)
        return found

    async def testbench(ctx):
        for budget, wanted in ((5, 1), (30, 0), (0, 0), (3, 1)):
            ctx.set(dut.budget, budget)
            await ctx.tick().repeat(2)
            assert await faults(ctx, 20) == wanted

    simulate(dut, testbench)


def test_work_that_ends_is_done_unless_it_failed():
    dut, events = Supervisor(), []

    async def testbench(ctx):
        for core, ring, halted in [
            (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 0), (0, 0, 0),
            (1, 0, 0), (1, 0, 1), (0, 0, 1), (0, 0, 1), (0, 0, 0), (1, 0, 0), (0, 0, 0),
        ]:  # fmt: skip
            ctx.set(dut.core_busy, core)
            ctx.set(dut.ring_busy, ring)
            ctx.set(dut.halted, halted)
            assert ctx.get(dut.busy) == core | ring
            events.append("d" * ctx.get(dut.done) + "f" * ctx.get(dut.failed))
            await ctx.tick()

    simulate(dut, testbench)
    assert events == ["", "", "", "", "d", "", "", "f", "", "", "", "", "d"]


def test_resets_last_one_cycle_and_come_with_power():
    dut = Supervisor()

    async def testbench(ctx):
        assert ctx.get(dut.reset_core)
        assert ctx.get(dut.reset_counters)
        await ctx.tick()
        for clear, reset, other in (
            (dut.clear_error, dut.reset_core, dut.reset_counters),
            (dut.clear_counters, dut.reset_counters, dut.reset_core),
        ):
            ctx.set(clear, 1)
            assert not ctx.get(reset)
            await ctx.tick()
            ctx.set(clear, 0)
            assert ctx.get(reset)
            assert not ctx.get(other)
            await ctx.tick()
            assert not ctx.get(reset)

    simulate(dut, testbench)


def test_faults_of_the_ring_pass():
    dut = Supervisor()
    fault = {"valid": 1, "cause": Cause.RING_ENTRY, "address": 77, "id": BusId.RING}

    async def testbench(ctx):
        assert not ctx.get(dut.fault.valid)
        ctx.set(dut.ring_fault, fault)
        assert {name: ctx.get(dut.fault[name]) for name in fault} == fault
        # A limit that ends in the same cycle comes first.
        ctx.set(dut.budget, 1)
        ctx.set(dut.core_busy, 1)
        await ctx.tick().repeat(2)
        assert ctx.get(dut.fault.cause) == Cause.CYCLE_BUDGET

    simulate(dut, testbench)
