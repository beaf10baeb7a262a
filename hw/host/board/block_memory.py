"""Memory on the FPGA itself: the slave of the accelerator's AXI4 port, and the host's bytes."""

from typing import Any

from amaranth import Cat, Module, Mux, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.bus.bus import RESPONSE_OKAY, AddressRequest
from celosia.hw.host.flat_ports import read_ports, write_ports
from celosia.hw.lib.queue import Queue
from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.registers.map import BUS_ID_BITS

__all__ = ["BlockMemory", "ByteAccess", "axi_ports"]

RESPONSE_NOBODY = 3
"""The response DECERR of AXI: there is no memory at this address."""
BEATS = 4
"""Beats of read data that wait for the master, at most."""


class ByteAccess(data.StructLayout):
    """A byte of memory that is read or written."""

    def __init__(self, memory_bytes: int):
        super().__init__({"write": 1, "offset": range(memory_bytes), "byte": unsigned(8)})


def axi_ports(config: AcceleratorConfig) -> dict[str, wiring.Member]:
    """The five channels of AXI4, seen from the accelerator."""
    return read_ports(config) | write_ports(config)


class BlockMemory(wiring.Component):
    """Memory from `MEMORY_BASE` on, in one block RAM that reads and writes a word per cycle.

    Bursts are those of the accelerator: INCR, of whole words.  One is read and one written at a
    time.  The first beat of read data is on offer `LATENCY` cycles after its address was accepted,
    the others follow at one per cycle, and the next burst may be accepted with the last lookup, so
    that bursts leave one cycle between them.  Write data are accepted at one beat per cycle from
    the cycle after their address on; the response is on offer in the cycle after the last beat.
    Beats outside of memory are answered with DECERR, and nothing is written.

    The host's accesses go first: each takes the block RAM for a cycle, in which its way of the
    accelerator's stalls.  What is read stands on `byte` from two cycles after the access on, until
    the next one.  Power-on leaves zeros, and a reset of this component keeps the contents.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``bus_bits``.
    memory_bytes : int
        Bytes, a power of two.

    Members
    -------
    host : ``In(stream.Signature(ByteAccess(memory_bytes), always_ready=True))``
        The host's accesses.
    byte : ``Out(8)``
        What the host has read.
    axi : ``In(wiring.Signature(axi_ports(config)))``
        The accelerator's accesses.
    """

    LATENCY = 3

    host: stream.Interface
    byte: Signal
    axi: Any

    def __init__(self, config: AcceleratorConfig, memory_bytes: int):
        self.config = config
        self.memory_bytes = memory_bytes
        super().__init__({
            "host": In(stream.Signature(ByteAccess(memory_bytes), always_ready=True)),
            "byte": Out(8),
            "axi": In(wiring.Signature(axi_ports(config))),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        rows = self.memory_bytes // self.config.bus_bytes
        m.submodules.memory = memory = Memory(
            shape=unsigned(self.config.bus_bits), depth=rows, init=[]
        )
        self._read(m, memory.read_port())
        self._write(m, memory.write_port(granularity=8))
        return m

    def _read(self, m: Module, port: Any) -> None:
        bus = self.axi
        p, lane_bits = self.host.p, (self.config.bus_bytes - 1).bit_length()
        beat = data.StructLayout({
            "data": unsigned(self.config.bus_bits),
            "response": unsigned(2),
            "last": 1,
            "id": unsigned(BUS_ID_BITS),
        })
        m.submodules.beats = beats = Queue(beat, BEATS)
        room = Signal(range(BEATS + 1), init=BEATS)  # Beats that may still be looked up.
        reading, number = Signal(), Signal(BUS_ID_BITS, reset_less=True)
        burst = Signal(AddressRequest(), reset_less=True)  # What is left of it.

        # Stage 1: look up, for the host if it asks.
        hosts = Signal()
        issues, last = Signal(), Signal()
        m.d.comb += [
            hosts.eq(self.host.valid & ~p.write),
            last.eq(burst.beats_minus_1 == 0),
            issues.eq(reading & ~hosts & (room != 0)),
            port.en.eq(hosts | issues),
            port.addr.eq(Mux(hosts, p.offset >> lane_bits, burst.address >> lane_bits)),
            bus.m_axi_arready.eq(~reading | (issues & last)),
        ]
        with m.If(issues):
            m.d.sync += [*self._step(burst), reading.eq(~last)]
        with m.If(bus.m_axi_arvalid & bus.m_axi_arready):
            m.d.sync += [
                *(reading.eq(1), number.eq(bus.m_axi_arid)),
                *(burst.address.eq(bus.m_axi_araddr), burst.beats_minus_1.eq(bus.m_axi_arlen)),
            ]

        # Stage 2: the word comes out of the block RAM.
        s1_issued, s1_hosts, s1_last = Signal(), Signal(), Signal(reset_less=True)
        s1_response = Signal(2, reset_less=True)
        s1_id = Signal(BUS_ID_BITS, reset_less=True)
        s1_lane = Signal(lane_bits, reset_less=True)
        m.d.sync += [
            *(s1_issued.eq(issues), s1_hosts.eq(hosts), s1_last.eq(last), s1_id.eq(number)),
            *(s1_lane.eq(p.offset), s1_response.eq(self._response(burst.address))),
        ]
        i: Any = beats.i
        m.d.comb += [
            *(i.valid.eq(s1_issued), i.p.data.eq(port.data), i.p.last.eq(s1_last)),
            *(i.p.response.eq(s1_response), i.p.id.eq(s1_id)),
        ]
        with m.If(s1_hosts):
            m.d.sync += self.byte.eq(port.data.word_select(s1_lane, 8))

        # Stage 3: beats wait for the master.
        o: Any = beats.o
        taken = o.valid & o.ready
        m.d.sync += room.eq(room - issues + taken)
        m.d.comb += [
            *(bus.m_axi_rvalid.eq(o.valid), o.ready.eq(bus.m_axi_rready)),
            *(bus.m_axi_rdata.eq(o.p.data), bus.m_axi_rresp.eq(o.p.response)),
            *(bus.m_axi_rlast.eq(o.p.last), bus.m_axi_rid.eq(o.p.id)),
        ]

    def _write(self, m: Module, port: Any) -> None:
        bus = self.axi
        p, lanes = self.host.p, self.config.bus_bytes
        lane_bits = (lanes - 1).bit_length()
        writing, number = Signal(), Signal(BUS_ID_BITS, reset_less=True)
        burst = Signal(AddressRequest(), reset_less=True)  # What is left of it.
        response = Signal(2)  # The worst of the beats so far.
        hosts, taken = Signal(), Signal()
        here = self._response(burst.address)
        m.d.comb += [
            hosts.eq(self.host.valid & p.write),
            bus.m_axi_awready.eq(~writing & ~bus.m_axi_bvalid),
            bus.m_axi_wready.eq(writing & ~hosts),
            taken.eq(bus.m_axi_wvalid & bus.m_axi_wready),
            port.addr.eq(Mux(hosts, p.offset >> lane_bits, burst.address >> lane_bits)),
            port.data.eq(Mux(hosts, Cat([p.byte] * lanes), bus.m_axi_wdata)),
            *(bus.m_axi_bid.eq(number), bus.m_axi_bresp.eq(response)),
        ]
        with m.If(hosts):
            m.d.comb += port.en.eq(1 << p.offset[:lane_bits])
        with m.Elif(taken & (here == RESPONSE_OKAY)):
            m.d.comb += port.en.eq(bus.m_axi_wstrb)

        with m.If(bus.m_axi_awvalid & bus.m_axi_awready):
            m.d.sync += [
                *(writing.eq(1), number.eq(bus.m_axi_awid), response.eq(RESPONSE_OKAY)),
                *(burst.address.eq(bus.m_axi_awaddr), burst.beats_minus_1.eq(bus.m_axi_awlen)),
            ]
        with m.If(taken):
            m.d.sync += [*self._step(burst), response.eq(response | here)]
            with m.If(burst.beats_minus_1 == 0):
                m.d.sync += [writing.eq(0), bus.m_axi_bvalid.eq(1)]
        with m.If(bus.m_axi_bvalid & bus.m_axi_bready):
            m.d.sync += bus.m_axi_bvalid.eq(0)

    def _step(self, burst: Any) -> list:
        """Go to the next word of a burst."""
        return [
            burst.address.eq(burst.address + self.config.bus_bytes),
            burst.beats_minus_1.eq(burst.beats_minus_1 - 1),
        ]

    def _response(self, address: Any) -> Any:
        """The response for a word: whether it is in memory."""
        size_bits = (self.memory_bytes - 1).bit_length()
        inside = address[size_bits:] == MEMORY_BASE >> size_bits
        return Mux(inside, RESPONSE_OKAY, RESPONSE_NOBODY)
