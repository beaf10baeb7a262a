"""Celosia as one part of a design: what a user's own wrapper around the core looks like."""

from typing import Any

from amaranth import Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.accelerator import Accelerator
from celosia.hw.bus.bus import ReadPort, WritePort
from celosia.hw.lib.layouts import COMMAND
from celosia.isa.config import AcceleratorConfig

__all__ = ["MatrixEngine"]


class MatrixEngine(wiring.Component):
    """Commands in; out comes traffic to `size` bytes of memory from `base` on."""

    commands: stream.Interface
    reads: Any
    writes: Any
    busy: Signal
    failed: Signal

    def __init__(self, config: AcceleratorConfig, base: int, size: int):
        self.config, self.base, self.size = config, base, size
        super().__init__({
            "commands": In(stream.Signature(COMMAND)),
            "reads": Out(ReadPort(config)),
            "writes": Out(WritePort(config)),
            "busy": Out(1),
            "failed": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.core = core = Accelerator(self.config)
        connect(m, flipped(self.commands), core.commands)
        connect(m, core.read_port, flipped(self.reads))
        connect(m, core.write_port, flipped(self.writes))
        for limits in (core.read_limits, core.write_limits):
            m.d.comb += [limits.base.eq(self.base), limits.limit.eq(self.base + self.size - 1)]
        m.d.comb += [self.busy.eq(core.busy), self.failed.eq(core.error.valid)]
        return m
