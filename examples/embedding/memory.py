"""A block of on-chip memory that answers bursts, as simply as it can be done."""

from typing import Any

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from celosia.hw.bus.bus import ReadPort, WritePort
from celosia.isa.config import AcceleratorConfig

__all__ = ["BurstMemory"]


class BurstMemory(wiring.Component):
    """`content`, a power of two of bytes; address bits above it are ignored.

    A beat of a read every two cycles, of a write in each, one burst of either kind at a time.
    """

    reads: Any
    writes: Any

    def __init__(self, config: AcceleratorConfig, content: bytes):
        self.config, self.content = config, content
        super().__init__({"reads": In(ReadPort(config)), "writes": In(WritePort(config))})

    def elaborate(self, platform) -> Module:
        m = Module()
        size = self.config.bus_bytes
        words = [
            int.from_bytes(self.content[place : place + size], "little")
            for place in range(0, len(self.content), size)
        ]
        m.submodules.memory = self.memory = Memory(shape=8 * size, depth=len(words), init=words)
        self._read(m, (size - 1).bit_length())
        self._write(m, (size - 1).bit_length())
        return m

    def _read(self, m: Module, shift: int) -> None:
        port, ar, r = self.memory.read_port(), self.reads.ar, self.reads.r
        row, left = Signal.like(port.addr), Signal(8)
        m.d.comb += [port.addr.eq(row), port.en.eq(0)]
        with m.FSM(name="read"):
            with m.State("ADDRESS"):
                m.d.comb += ar.ready.eq(1)
                with m.If(ar.valid):
                    m.d.sync += [row.eq(ar.p.address >> shift), left.eq(ar.p.beats_minus_1)]
                    m.next = "FETCH"
            with m.State("FETCH"):
                m.d.comb += port.en.eq(1)
                m.d.sync += row.eq(row + 1)
                m.next = "BEAT"
            with m.State("BEAT"):
                m.d.comb += [r.valid.eq(1), r.p.data.eq(port.data), r.p.last.eq(left == 0)]
                with m.If(r.ready):
                    m.d.sync += left.eq(left - 1)
                    m.next = "FETCH"
                    with m.If(left == 0):
                        m.next = "ADDRESS"

    def _write(self, m: Module, shift: int) -> None:
        port = self.memory.write_port(granularity=8)
        aw, w, b = self.writes.aw, self.writes.w, self.writes.b
        row = Signal.like(port.addr)
        m.d.comb += [port.addr.eq(row), port.data.eq(w.p.data)]
        with m.FSM(name="write"):
            with m.State("ADDRESS"):
                m.d.comb += aw.ready.eq(1)
                with m.If(aw.valid):
                    m.d.sync += row.eq(aw.p.address >> shift)
                    m.next = "BEATS"
            with m.State("BEATS"):
                m.d.comb += w.ready.eq(1)
                with m.If(w.valid):
                    m.d.comb += port.en.eq(w.p.strobe)
                    m.d.sync += row.eq(row + 1)
                    with m.If(w.p.last):
                        m.next = "RESPONSE"
            with m.State("RESPONSE"):
                m.d.comb += b.valid.eq(1)
                with m.If(b.ready):
                    m.next = "ADDRESS"
