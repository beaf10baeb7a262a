"""The bench: clock, reset, memory and register port of cocotbext-axi, and a monitor on each bus."""

import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout
from cocotbext.axi import AxiBus, AxiLiteBus, AxiLiteMaster, AxiResp, AxiSlave

from celosia.isa.encoding import Command, pack_ring
from celosia.isa.registers.map import REGISTER_BITS, REGISTERS
from tests.cocotb.configuration import CONFIG
from tests.cocotb.memory import Memory
from tests.cocotb.monitor import watch
from tests.cocotb.product import MEMORY_BYTES, RING
from tests.cocotb.rules import LiteRules, MemoryRules

__all__ = ["CHANNELS", "LITE_CHANNELS", "Bench"]

CHANNELS: Final = ("ar", "r", "aw", "w", "b")
LITE_CHANNELS: Final = tuple(f"lite_{name}" for name in CHANNELS)

PERIOD_NS: Final = 10
PATIENCE_CYCLES: Final = 20_000

_READ = {"ar", "r"}
_WORD_BYTES: Final = REGISTER_BITS // 8


class Bench:
    """`celosia_axi` with everything around it.  `start` first."""

    def __init__(self, dut: Any):
        self.dut = dut
        self.memory = Memory(MEMORY_BYTES)
        self.rules = MemoryRules(CONFIG.bus_bytes, CONFIG.read_requests, CONFIG.write_requests)
        self.lite_rules = LiteRules()
        self.ring_entries = 0
        self.tail = 0
        """Of the ring, as far as it was filled."""
        self.programs = 0
        """Those that have run to their end since reset or the last clear."""

    async def start(self) -> None:
        """Clock and reset, then everything on the buses."""
        dut = self.dut
        for name in ("cmd_valid", "cmd_funct", "cmd_rs1", "cmd_rs2"):
            getattr(dut, name).value = 0
        dut.rst.value = 1
        Clock(dut.clk, PERIOD_NS, unit="ns").start()
        self.slave = AxiSlave(
            AxiBus.from_prefix(dut, "m_axi"), dut.clk, dut.rst, target=self.memory
        )
        self.host = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axi"), dut.clk, dut.rst)
        cocotb.start_soon(watch(dut, "m_axi", self.rules))
        cocotb.start_soon(watch(dut, "s_axi", self.lite_rules))
        await self.reset()

    async def reset(self) -> None:
        """Registers and core as after power-on; memory keeps its contents."""
        self.dut.rst.value = 1
        await ClockCycles(self.dut.clk, 6)
        self.dut.rst.value = 0
        await ClockCycles(self.dut.clk, 4)
        self.tail = self.programs = 0

    def pause(self, channel: str, percent: int, seed: int = 0) -> None:
        """Let the bench's side of a channel hesitate with this chance in each cycle."""
        rng = random.Random(f"{channel} {seed}")
        self._channel(channel).set_pause_generator(
            rng.randrange(100) < percent for _ in iter(int, 1)
        )

    def accept_late(self) -> None:
        """Be ready on AR, AW and W only after valid.

        On AW only when there are data, too, and on W only for a burst whose address was taken.  A
        memory may do so: an accelerator whose valid waits for ready hangs here.
        """
        dut, rules = self.dut, self.rules

        def refuse_address() -> Iterator[bool]:
            while True:
                data = dut.m_axi_wvalid.value or rules.data_ahead
                yield not (dut.m_axi_awvalid.value and data)

        def refuse_data() -> Iterator[bool]:
            while True:
                yield not (dut.m_axi_wvalid.value and rules.address_ahead)

        def refuse_read() -> Iterator[bool]:
            while True:
                yield not dut.m_axi_arvalid.value

        for channel, refuse in (("ar", refuse_read), ("aw", refuse_address), ("w", refuse_data)):
            self._channel(channel).set_pause_generator(refuse())

    def _channel(self, name: str) -> Any:
        lite, name = name.startswith("lite_"), name.removeprefix("lite_")
        bus = self.host if lite else self.slave
        return getattr(bus.read_if if name in _READ else bus.write_if, f"{name}_channel")

    # Registers, or pairs of registers, by name.

    async def read(self, name: str) -> int:
        """The value; the answer must be OKAY."""
        if name not in REGISTERS:
            return await self.read(f"{name}_LO") | await self.read(f"{name}_HI") << REGISTER_BITS
        word, response = await self.access(REGISTERS[name].offset)
        assert response == AxiResp.OKAY, name
        return word

    async def write(self, name: str, value: int) -> None:
        """The answer must be OKAY."""
        if name not in REGISTERS:
            await self.write(f"{name}_LO", value & ((1 << REGISTER_BITS) - 1))
            await self.write(f"{name}_HI", value >> REGISTER_BITS)
        else:
            _, response = await self.access(REGISTERS[name].offset, value)
            assert response == AxiResp.OKAY, name

    async def fields(self, name: str) -> dict[str, int]:
        """A register's fields."""
        return REGISTERS[name].unpack(await self.read(name))

    async def set(self, name: str, **fields: int) -> None:
        """Write a register's fields; those left out become 0."""
        await self.write(name, REGISTERS[name].pack(fields))

    async def access(self, offset: int, word: int | None = None) -> tuple[int, AxiResp]:
        """Read or write the word at `offset`: it, and the response."""
        if word is None:
            answer = await self._limited(self.host.read(offset, _WORD_BYTES))
            return int.from_bytes(answer.data, "little"), answer.resp
        answer = await self._limited(self.host.write(offset, word.to_bytes(_WORD_BYTES, "little")))
        return word, answer.resp

    # Programs.

    async def open_ring(self, entries: int) -> None:
        """Take commands from an empty ring of `entries`, with both interrupts enabled."""
        self.ring_entries = entries
        await self.write("RING_BASE", RING)
        await self.write("RING_SIZE", entries)
        await self.set("INTERRUPT_ENABLE", done=1, error=1)
        await self.set("CONTROL", ring_enable=1)

    async def submit(self, commands: Sequence[Command]) -> None:
        """Put commands into the ring, which must have room for them, and ring the doorbell."""
        assert len(commands) < self.ring_entries
        for command in commands:
            entry = pack_ring([command])
            self.memory.load(RING + self.tail * len(entry), entry)
            self.tail = (self.tail + 1) % self.ring_entries
        await self.write("RING_TAIL", self.tail)
        await self.write("RING_DOORBELL", 1)

    async def stream(self, commands: Sequence[Command]) -> None:
        """Offer commands on the command port; returns when the last one was taken."""
        dut = self.dut
        dut.cmd_valid.value = 1
        for command in commands:
            dut.cmd_funct.value = command.funct
            dut.cmd_rs1.value = command.rs1
            dut.cmd_rs2.value = command.rs2
            await RisingEdge(dut.clk)
            while not dut.cmd_ready.value:
                await RisingEdge(dut.clk)
        dut.cmd_valid.value = 0

    async def interrupted(self) -> dict[str, int]:
        """Wait for the interrupt and acknowledge it: the events that there were."""
        if not self.dut.interrupt.value:
            await self._limited(RisingEdge(self.dut.interrupt))
        events = await self.fields("INTERRUPT_STATUS")
        await self.set("INTERRUPT_STATUS", **events)
        await ClockCycles(self.dut.clk, 2)
        assert not self.dut.interrupt.value
        return events

    async def idle(self) -> None:
        """Wait until it is not busy; then nothing is in flight on the memory port."""
        while self.dut.busy.value:
            await self._limited(RisingEdge(self.dut.clk))
        await ClockCycles(self.dut.clk, 1)
        assert self.rules.quiet

    async def _limited(self, what: Any) -> Any:
        return await with_timeout(what, PATIENCE_CYCLES * PERIOD_NS, "ns")
