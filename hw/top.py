"""The accelerator with flat port names: the top level of generated Verilog and of simulators."""

from typing import Any

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.accelerator import Accelerator
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FUNCT_BITS, WORD_BITS
from celosia.isa.errors import ERROR_BITS
from celosia.isa.events import COUNTER_BITS, COUNTERS

__all__ = ["ID_BITS", "Top"]

ID_BITS = 4
BURST_INCR = 1
QUEUES = ("load", "execute", "store")


class Top(wiring.Component):
    """`Accelerator`, with the names of docs/architecture.md and of AXI4.

    Adds no cycle to any path.  One ID (0) is used for reads and one for writes.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        What to build.
    memory_seed : int or None
        Of the contents of local memories at power-on, in Amaranth's simulator.
    """

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self._seed = memory_seed
        super().__init__(
            _command_ports() | _read_ports(config) | _write_ports(config) | _control_ports()
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        ports: Any = self
        m.submodules.accelerator = core = Accelerator(self.config, memory_seed=self._seed)
        m.d.comb += [
            core.commands.valid.eq(ports.cmd_valid),
            core.commands.p.funct.eq(ports.cmd_funct),
            core.commands.p.rs1.eq(ports.cmd_rs1),
            core.commands.p.rs2.eq(ports.cmd_rs2),
            ports.cmd_ready.eq(core.commands.ready),
            core.read_limits.base.eq(ports.read_base),
            core.read_limits.limit.eq(ports.read_limit),
            core.write_limits.base.eq(ports.write_base),
            core.write_limits.limit.eq(ports.write_limit),
            ports.busy.eq(core.busy),
            ports.error_cause.eq(core.error.cause),
            ports.error_address.eq(core.error.address),
            ports.error_tag.eq(core.error.tag),
        ]
        for index, queue in enumerate(QUEUES):
            m.d.comb += [
                self[f"queued_{queue}"].eq(core.queued[index]),
                self[f"waits_{queue}"].eq(core.waits[index].as_value()),
            ]
        for counter in COUNTERS:
            m.d.comb += self[f"counter_{counter.name}"].eq(core.counters[counter.name])
        self._read(m, core)
        self._write(m, core)
        return m

    def __getitem__(self, name: str):
        return getattr(self, name)

    def _address(self, m: Module, channel: str, source) -> None:
        size = (self.config.bus_bytes - 1).bit_length()
        m.d.comb += [
            self[f"m_axi_{channel}valid"].eq(source.valid),
            source.ready.eq(self[f"m_axi_{channel}ready"]),
            self[f"m_axi_{channel}addr"].eq(source.p.address),
            self[f"m_axi_{channel}len"].eq(source.p.beats_minus_1),
            self[f"m_axi_{channel}size"].eq(size),
            self[f"m_axi_{channel}burst"].eq(BURST_INCR),
        ]

    def _read(self, m: Module, core: Accelerator) -> None:
        self._address(m, "ar", core.read_port.ar)
        r = core.read_port.r
        ports: Any = self
        m.d.comb += [
            r.valid.eq(ports.m_axi_rvalid),
            r.p.data.eq(ports.m_axi_rdata),
            r.p.response.eq(ports.m_axi_rresp),
            r.p.last.eq(ports.m_axi_rlast),
            ports.m_axi_rready.eq(r.ready),
        ]

    def _write(self, m: Module, core: Accelerator) -> None:
        self._address(m, "aw", core.write_port.aw)
        w, b = core.write_port.w, core.write_port.b
        ports: Any = self
        m.d.comb += [
            ports.m_axi_wvalid.eq(w.valid),
            ports.m_axi_wdata.eq(w.p.data),
            ports.m_axi_wstrb.eq(w.p.strobe),
            ports.m_axi_wlast.eq(w.p.last),
            w.ready.eq(ports.m_axi_wready),
            b.valid.eq(ports.m_axi_bvalid),
            b.p.response.eq(ports.m_axi_bresp),
            ports.m_axi_bready.eq(b.ready),
        ]


def _command_ports() -> dict:
    return {
        "cmd_valid": In(1),
        "cmd_ready": Out(1),
        "cmd_funct": In(FUNCT_BITS),
        "cmd_rs1": In(WORD_BITS),
        "cmd_rs2": In(WORD_BITS),
    }


def _address_ports(channel: str) -> dict:
    return {
        f"m_axi_{channel}valid": Out(1),
        f"m_axi_{channel}ready": In(1),
        f"m_axi_{channel}addr": Out(64),
        f"m_axi_{channel}len": Out(8),
        f"m_axi_{channel}size": Out(3),
        f"m_axi_{channel}burst": Out(2),
        f"m_axi_{channel}id": Out(ID_BITS),
    }


def _read_ports(config: AcceleratorConfig) -> dict:
    return _address_ports("ar") | {
        "m_axi_rvalid": In(1),
        "m_axi_rready": Out(1),
        "m_axi_rdata": In(config.bus_bits),
        "m_axi_rresp": In(2),
        "m_axi_rlast": In(1),
        "m_axi_rid": In(ID_BITS),
    }


def _write_ports(config: AcceleratorConfig) -> dict:
    return _address_ports("aw") | {
        "m_axi_wvalid": Out(1),
        "m_axi_wready": In(1),
        "m_axi_wdata": Out(config.bus_bits),
        "m_axi_wstrb": Out(config.bus_bytes),
        "m_axi_wlast": Out(1),
        "m_axi_bvalid": In(1),
        "m_axi_bready": Out(1),
        "m_axi_bresp": In(2),
        "m_axi_bid": In(ID_BITS),
    }


def _control_ports() -> dict:
    limits = [f"{way}_{end}" for way in ("read", "write") for end in ("base", "limit")]
    return {
        **{name: In(64) for name in limits},
        "busy": Out(1),
        "error_cause": Out(ERROR_BITS),
        "error_address": Out(64),
        "error_tag": Out(32),
        **{f"queued_{queue}": Out(8) for queue in QUEUES},
        **{f"waits_{queue}": Out(4) for queue in QUEUES},
        **{f"counter_{counter.name}": Out(COUNTER_BITS) for counter in COUNTERS},
    }
