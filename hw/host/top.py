"""The accelerator with flat port names and without anything around it: module `celosia_core`."""

from typing import Any

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.accelerator import Accelerator
from celosia.hw.host.flat_ports import (
    command_ports,
    connect_address,
    connect_beats,
    connect_writes,
    read_ports,
    write_ports,
)
from celosia.hw.observe.counters import COUNTER_NUMBER, Counters
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.errors import ERROR_BITS
from celosia.isa.registers.events import COUNTER_BITS
from celosia.isa.registers.queues import QUEUES, WAITS

__all__ = ["Top"]


class Top(wiring.Component):
    """`Accelerator`, with the names of docs/architecture.md and of AXI4.

    Adds no cycle to any path.  One ID (0) is used for reads and one for writes.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        What to build.
    memory_seed : int or None
        Seed of the contents of local memories at power-on, in Amaranth's simulator.
    """

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self._seed = memory_seed
        super().__init__(
            command_ports() | read_ports(config) | write_ports(config) | _control_ports()
        )

    def elaborate(self, platform) -> Module:
        m = Module()
        ports: Any = self
        m.submodules.accelerator = core = Accelerator(self.config, memory_seed=self._seed)
        m.submodules.counters = counters = Counters(self.config)
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
            counters.events.eq(core.events),
        ]
        for queue in QUEUES:
            m.d.comb += [
                getattr(self, f"queued_{queue}").eq(core.queued[queue]),
                getattr(self, f"waits_{queue}").eq(core.waits[queue].as_value()),
            ]
        m.d.comb += [
            counters.read.eq(1),
            counters.number.eq(ports.counter_number),
            ports.counter_value.eq(counters.value),
        ]
        connect_address(m, self, "ar", core.read_port.ar, core.read_port.ar.p)
        connect_beats(m, self, core.read_port.r, core.read_port.r.p)
        connect_writes(m, self, core.write_port)
        return m


def _control_ports() -> dict:
    limits = [f"{way}_{end}" for way in ("read", "write") for end in ("base", "limit")]
    return {
        **{name: In(64) for name in limits},
        "busy": Out(1),
        "error_cause": Out(ERROR_BITS),
        "error_address": Out(64),
        "error_tag": Out(32),
        **{f"queued_{queue}": Out(8) for queue in QUEUES},
        **{f"waits_{queue}": Out(len(WAITS)) for queue in QUEUES},
        "counter_number": In(COUNTER_NUMBER),
        "counter_value": Out(COUNTER_BITS),
    }
