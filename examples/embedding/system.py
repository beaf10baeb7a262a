"""A design of its own: a program in a ROM, the engine, and a memory; and a simulation of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import Out, connect
from amaranth.sim import Simulator
from engine import MatrixEngine
from memory import BurstMemory

from celosia.hw.lib.layouts import COMMAND
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.runtime import Compiled, compile_product, describe_product

CONFIG = resolve_config(
    "tiny",
    [
        *("scratchpad_kib=1", "accumulator_kib=1", "parameter_rows=8"),
        *("normalization=false", "loop_entries=0"),  # A product needs neither.
    ],
)
MEMORY_BYTES = 4096
PATIENCE_CYCLES = 20_000


class System(wiring.Component):
    """Runs `program` once; `done` when everything is in memory."""

    done: Signal
    failed: Signal

    def __init__(self, config: AcceleratorConfig, program: Sequence[Command], content: bytes):
        super().__init__({"done": Out(1), "failed": Out(1)})
        self.engine = MatrixEngine(config, MEMORY_BASE, len(content))
        self.memory = BurstMemory(config, content)
        self.program = program

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.engine, m.submodules.memory = engine, memory = self.engine, self.memory
        connect(m, engine.reads, memory.reads)
        connect(m, engine.writes, memory.writes)

        # Commands, one after the other.
        rows: list[Any] = [command._asdict() for command in self.program]
        m.submodules.rom = rom = Memory(shape=COMMAND, depth=len(rows), init=rows)
        command = rom.read_port(domain="comb")
        counter = Signal(range(len(rows) + 1))
        over = Signal()
        m.d.comb += [
            over.eq(counter == len(rows)),
            command.addr.eq(counter),
            engine.commands.valid.eq(~over),
            engine.commands.p.eq(command.data),
            self.done.eq(over & ~engine.busy),
            self.failed.eq(engine.failed),
        ]
        with m.If(engine.commands.valid & engine.commands.ready):
            m.d.sync += counter.eq(counter + 1)
        return m


def compile_example(a: np.ndarray, b: np.ndarray) -> Compiled:
    """The product, with its operands in the memory of a functional device."""
    device = FunctionalDevice(CONFIG, memory_bytes=MEMORY_BYTES)
    compiled = compile_product(device, describe_product(a, b))
    compiled.load(a, b)
    return compiled


def simulate(system: System) -> tuple[int, bytes]:
    """Cycles until it is done, and what the memory holds then."""
    words: list[int] = []
    cycles = 0

    async def watch(ctx) -> None:
        nonlocal cycles
        while not ctx.get(system.done):
            assert not ctx.get(system.failed), "the engine recorded an error"
            assert cycles < PATIENCE_CYCLES, "it hangs"
            await ctx.tick()
            cycles += 1
        words.extend(ctx.get(row) for row in system.memory.memory.data)

    simulator = Simulator(system)
    simulator.add_clock(1e-8)
    simulator.add_testbench(watch)
    simulator.run()
    return cycles, b"".join(word.to_bytes(CONFIG.bus_bytes, "little") for word in words)


def main() -> None:
    """Multiply two matrices in the simulated design, and compare with NumPy."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((6, 10), (10, 5)))
    compiled = compile_example(a, b)
    content = compiled.buffers.device.read(MEMORY_BASE, MEMORY_BYTES)
    cycles, after = simulate(System(CONFIG, compiled.commands, content))
    place = compiled.c.address - MEMORY_BASE
    c = np.frombuffer(after, np.int32, a.shape[0] * b.shape[1], place).reshape(6, 5)
    assert (c == a.astype(np.int32) @ b).all()
    print(f"{a.shape[0]}x{b.shape[1]}x{a.shape[1]} product: right, {cycles} cycles")


if __name__ == "__main__":
    main()
