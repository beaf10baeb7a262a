"""The design of a board: module `celosia_board`."""

from typing import Any

from amaranth import ClockDomain, DomainRenamer, Module, ResetInserter, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from celosia.hw.host.axi_top import AxiTop, lite_ports
from celosia.hw.host.board.block_memory import BlockMemory, axi_ports
from celosia.hw.host.board.bridge import Bridge
from celosia.hw.host.board.lite_master import LiteMaster
from celosia.hw.host.board.reply_writer import ReplyWriter
from celosia.hw.host.board.request_reader import RequestReader
from celosia.hw.host.board.setup import BoardSetup
from celosia.hw.host.board.uart_receiver import UartReceiver
from celosia.hw.host.board.uart_transmitter import UartTransmitter
from celosia.isa.config import AcceleratorConfig

__all__ = ["BoardTop"]


class BoardTop(wiring.Component):
    """`AxiTop` with a memory, and a serial link by which a host reaches memory and registers.

    Commands come from the ring in that memory.  One clock; `rst` is synchronous, and resets all but
    the contents of memories.  The link may reset the accelerator (`Verb.RESET`), and with it the
    transfers of the memory.  Latency and throughput are those of the parts.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        What to build.
    setup : :class:`BoardSetup`
        The clock, the rate of the link and the memory.

    Members
    -------
    clk : ``In(1)``
        The clock of ``setup.clock_hz``.
    rst : ``In(1)``
        Reset.
    rx : ``In(1, init=1)``
        The line from the host.
    tx : ``Out(1, init=1)``
        The line to the host.
    busy : ``Out(1)``
        The accelerator works.
    error : ``Out(1)``
        An error stopped it.
    """

    clk: Signal
    rst: Signal
    rx: Signal
    tx: Signal
    busy: Signal
    error: Signal

    def __init__(self, config: AcceleratorConfig, setup: BoardSetup):
        self.config = config
        self.setup = setup
        super().__init__({
            "clk": In(1),
            "rst": In(1),
            "rx": In(1, init=1),  # pyright: ignore[reportCallIssue]
            "tx": Out(1, init=1),  # pyright: ignore[reportCallIssue]
            "busy": Out(1),
            "error": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        axi: Any = AxiTop(self.config)
        divisor = self.setup.divisor
        receiver, transmitter = UartReceiver(divisor), UartTransmitter(divisor)
        reader, writer, lite = RequestReader(), ReplyWriter(), LiteMaster()
        bridge = Bridge(self.setup)
        memory = BlockMemory(self.config, self.setup.memory_bytes)

        # The accelerator has a domain `sync` of its own.  Its clock is that of all of the design: a
        # copy would rise later.
        domain: Any = ClockDomain("board", local=True)
        domain.clk, domain.rst = axi.clk, self.rst
        m.domains += domain
        m.d.comb += axi.clk.eq(self.clk)
        m.submodules.axi = axi
        parts = {"receiver": receiver, "reader": reader, "bridge": bridge, "writer": writer}
        parts |= {"transmitter": transmitter, "lite": lite}
        parts["memory"] = ResetInserter(bridge.reset)(memory)
        for name, part in parts.items():
            m.submodules[name] = DomainRenamer("board")(part)

        connect(m, receiver.o, reader.i)
        connect(m, reader.head, bridge.head)
        connect(m, bridge.reply, writer.i)
        connect(m, writer.o, transmitter.i)
        connect(m, bridge.memory, memory.host)
        connect(m, bridge.access, lite.access)
        m.d.comb += [
            receiver.rx.eq(self.rx),
            self.tx.eq(transmitter.tx),
            *(reader.index.eq(bridge.index), bridge.payload.eq(reader.payload)),
            bridge.byte.eq(memory.byte),
            *(bridge.data.eq(lite.data), bridge.refused.eq(lite.refused)),
            bridge.interrupt.eq(axi.interrupt),
            axi.rst.eq(self.rst | bridge.reset),
            *(self.busy.eq(axi.busy), self.error.eq(axi.error)),
        ]
        for ports, partner in ((axi_ports(self.config), memory.axi), (lite_ports(), lite.bus)):
            for name, port in ports.items():
                ours, theirs = getattr(axi, name), getattr(partner, name)
                m.d.comb += theirs.eq(ours) if port.flow is Out else ours.eq(theirs)
        return m
