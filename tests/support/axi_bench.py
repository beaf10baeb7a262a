"""`AxiTop` between a memory and a host."""

from collections.abc import Callable, Sequence
from typing import Any

from celosia.hw.host.axi_top import AxiTop
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from tests.support.axi_host import AxiHost
from tests.support.axi_memory import AxiMemory
from tests.support.reused_simulator import run_testbenches, shared_design
from tests.support.streams import PERIOD

__all__ = ["RING_ENTRIES", "AxiBench"]

RING_ENTRIES = 16
RESET_CYCLES = 4


def _axi_top(config: AcceleratorConfig) -> AxiTop:
    return AxiTop(config, memory_seed=1)


class AxiBench:
    """A top, a memory of `memory_bytes` with a ring behind it, and a host.

    `ring_offset` is that of the ring from the end of the memory; `memory` are further arguments of
    `AxiMemory`, `host` of `AxiHost`.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        *,
        memory_bytes: int = 8192,
        ring_offset: int = 8,
        ring_entries: int = RING_ENTRIES,
        host: dict | None = None,
        **memory: Any,
    ):
        self.top: Any = shared_design(_axi_top, config)
        size = memory_bytes + ring_offset + 24 * ring_entries + 128
        self.memory = AxiMemory(self.top, data=bytearray(size), **memory)
        self.host = AxiHost(self.top, **(host or {}))
        self.ring = self.memory.base + memory_bytes + ring_offset
        self.ring_entries = ring_entries

    def simulate(self, test: Callable, *background: Callable, deadline: int = 100_000) -> None:
        """Run `test`, an async function of the context, after a reset."""

        async def testbench(ctx) -> None:
            await self.reset(ctx)
            await test(ctx)

        async def watchdog(ctx) -> None:
            await ctx.delay(deadline * PERIOD)
            raise AssertionError(f"the simulation did not finish in {deadline} cycles")

        others = (self.memory.run, watchdog, *background)
        run_testbenches(self.top, [testbench], others, PERIOD, "port")

    async def reset(self, ctx) -> None:
        ctx.set(self.top.rst, 1)
        await self.wait(ctx, RESET_CYCLES)
        ctx.set(self.top.rst, 0)
        self.host.tail = 0

    async def wait(self, ctx, cycles: int) -> None:
        for _ in range(cycles):
            await ctx.tick("port")

    async def idle(self, ctx, most: int = 50_000) -> int:
        """Wait until nothing is left to do; returns for how long."""
        for cycle in range(most):
            if not ctx.get(self.top.busy):
                return cycle
            await ctx.tick("port")
        raise AssertionError("still busy")

    async def stream(self, ctx, program: Sequence[Command], most: int = 1000) -> None:
        """Send commands, until none is accepted any more for `most` cycles."""
        top = self.top
        for command in program:
            ctx.set(top.cmd_funct, command.funct)
            ctx.set(top.cmd_rs1, command.rs1)
            ctx.set(top.cmd_rs2, command.rs2)
            ctx.set(top.cmd_valid, 1)
            ready = False
            for _ in range(most):
                _, _, ready, error = await ctx.tick("port").sample(top.cmd_ready, top.error)
                if ready or error:
                    break
            if not ready:
                break
        ctx.set(top.cmd_valid, 0)

    async def fill(self, ctx, program: Sequence[Command]) -> None:
        """Put commands into the ring, as room is made for them, until an error stops it."""
        most = self.ring_entries - 1
        for start in range(0, len(program), most):
            part = program[start : start + most]
            while True:
                head = await self.host.read(ctx, "RING_HEAD")
                used = (self.host.tail - head) % self.ring_entries
                if used + len(part) <= most:
                    break
                if ctx.get(self.top.error):
                    return
            await self.host.submit(ctx, self.memory, part, self.ring, self.ring_entries)

    async def execute(self, ctx, program: Sequence[Command], issue: str) -> None:
        """Run a program to its end, or to an error."""
        enabled = (await self.host.fields(ctx, "CONTROL"))["ring_enable"]
        if issue == "ring" and not enabled:
            await self.host.enable_ring(ctx, self.ring, self.ring_entries)
        elif issue == "stream" and enabled:
            await self.host.set(ctx, "CONTROL", ring_enable=0)
        await (self.fill if issue == "ring" else self.stream)(ctx, program)
        await self.idle(ctx)
