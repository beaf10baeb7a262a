"""Flat port names for the top levels: those of AXI4, and of the command stream."""

from typing import Any

from amaranth import Module, Value
from amaranth.lib.wiring import In, Member, Out

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FUNCT_BITS, WORD_BITS
from celosia.isa.registers.map import BUS_ID_BITS

__all__ = [
    "command_ports",
    "connect_address",
    "connect_beats",
    "connect_writes",
    "read_ports",
    "write_ports",
]

BURST_INCR = 1


def command_ports() -> dict[str, Member]:
    """The command stream."""
    return {
        "cmd_valid": In(1),
        "cmd_ready": Out(1),
        "cmd_funct": In(FUNCT_BITS),
        "cmd_rs1": In(WORD_BITS),
        "cmd_rs2": In(WORD_BITS),
    }


def _address_ports(channel: str) -> dict[str, Member]:
    return {
        f"m_axi_{channel}valid": Out(1),
        f"m_axi_{channel}ready": In(1),
        f"m_axi_{channel}addr": Out(64),
        f"m_axi_{channel}len": Out(8),
        f"m_axi_{channel}size": Out(3),
        f"m_axi_{channel}burst": Out(2),
        f"m_axi_{channel}id": Out(BUS_ID_BITS),
    }


def read_ports(config: AcceleratorConfig) -> dict[str, Member]:
    """AR and R."""
    return _address_ports("ar") | {
        "m_axi_rvalid": In(1),
        "m_axi_rready": Out(1),
        "m_axi_rdata": In(config.bus_bits),
        "m_axi_rresp": In(2),
        "m_axi_rlast": In(1),
        "m_axi_rid": In(BUS_ID_BITS),
    }


def write_ports(config: AcceleratorConfig) -> dict[str, Member]:
    """AW, W and B."""
    return _address_ports("aw") | {
        "m_axi_wvalid": Out(1),
        "m_axi_wready": In(1),
        "m_axi_wdata": Out(config.bus_bits),
        "m_axi_wstrb": Out(config.bus_bytes),
        "m_axi_wlast": Out(1),
        "m_axi_bvalid": In(1),
        "m_axi_bready": Out(1),
        "m_axi_bresp": In(2),
        "m_axi_bid": In(BUS_ID_BITS),
    }


def connect_address(m: Module, top: Any, channel: str, source: Any, request: Any) -> None:
    """`request`, on offer as `source` says, to AR or AW."""

    def port(name: str) -> Value:
        return getattr(top, f"m_axi_{channel}{name}")

    m.d.comb += [
        port("valid").eq(source.valid),
        source.ready.eq(port("ready")),
        port("addr").eq(request.address),
        port("len").eq(request.beats_minus_1),
        port("size").eq((top.config.bus_bytes - 1).bit_length()),
        port("burst").eq(BURST_INCR),
    ]


def connect_beats(m: Module, top: Any, r: Any, beat: Any) -> None:
    """R to `beat`, on offer on `r`."""
    m.d.comb += [
        r.valid.eq(top.m_axi_rvalid),
        beat.data.eq(top.m_axi_rdata),
        beat.response.eq(top.m_axi_rresp),
        beat.last.eq(top.m_axi_rlast),
        top.m_axi_rready.eq(r.ready),
    ]


def connect_writes(m: Module, top: Any, port: Any) -> None:
    """AW, W and B to a `WritePort`."""
    connect_address(m, top, "aw", port.aw, port.aw.p)
    w, b = port.w, port.b
    m.d.comb += [
        top.m_axi_wvalid.eq(w.valid),
        top.m_axi_wdata.eq(w.p.data),
        top.m_axi_wstrb.eq(w.p.strobe),
        top.m_axi_wlast.eq(w.p.last),
        w.ready.eq(top.m_axi_wready),
        b.valid.eq(top.m_axi_bvalid),
        b.p.response.eq(top.m_axi_bresp),
        top.m_axi_bready.eq(b.ready),
    ]
