"""Accesses to registers, as a master of AXI4-Lite."""

from typing import Any

from amaranth import Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.host.axi_top import lite_ports
from celosia.isa.registers.map import REGISTER_BITS

__all__ = ["LiteAccess", "LiteMaster"]


class LiteAccess(data.StructLayout):
    """A register that is read, or written as a whole."""

    def __init__(self, address_bits: int):
        super().__init__({
            "write": 1,
            "address": unsigned(address_bits),
            "data": unsigned(REGISTER_BITS),
        })


class LiteMaster(wiring.Component):
    """One access at a time: it is accepted when its response has come.

    Address and data of a write are offered in the cycle in which the access is, and so is a read's
    address; the response is passed on in the cycle in which it comes.  Latency 0 beside the
    slave's, and no access begins before the one before was accepted.

    Members
    -------
    access : ``In(stream.Signature(LiteAccess(address_bits)))``
        What to do.
    data : ``Out(32)``
        What a read has brought, in the cycle in which it is accepted.
    refused : ``Out(1)``
        The response was an error; in that cycle, too.
    bus : ``In(wiring.Signature(lite_ports()))``
        The registers.
    """

    access: stream.Interface
    data: Signal
    refused: Signal
    bus: Any

    def __init__(self) -> None:
        ports: Any = lite_ports()
        super().__init__({
            "access": In(stream.Signature(LiteAccess(ports["s_axi_awaddr"].shape))),
            "data": Out(REGISTER_BITS),
            "refused": Out(1),
            "bus": In(wiring.Signature(ports)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        bus = self.bus
        valid, p = self.access.valid, self.access.p
        over = Signal()
        m.d.comb += [
            bus.s_axi_wdata.eq(p.data),
            bus.s_axi_wstrb.eq(~0),
            bus.s_axi_bready.eq(1),
            bus.s_axi_rready.eq(1),
            over.eq(bus.s_axi_bvalid | bus.s_axi_rvalid),
            self.access.ready.eq(over),
            self.data.eq(bus.s_axi_rdata),
        ]
        with m.If(bus.s_axi_bvalid):
            m.d.comb += self.refused.eq(bus.s_axi_bresp.any())
        with m.Elif(bus.s_axi_rvalid):
            m.d.comb += self.refused.eq(bus.s_axi_rresp.any())
        for channel, wanted in (("aw", p.write), ("w", p.write), ("ar", ~p.write)):
            taken = Signal(name=f"{channel}_taken")  # By the slave; its response is to come.
            offer = getattr(bus, f"s_axi_{channel}valid")
            m.d.comb += offer.eq(valid & wanted & ~taken)
            with m.If(over):
                m.d.sync += taken.eq(0)
            with m.Elif(offer & getattr(bus, f"s_axi_{channel}ready")):
                m.d.sync += taken.eq(1)
            if channel != "w":
                m.d.comb += getattr(bus, f"s_axi_{channel}addr").eq(p.address)
        return m
