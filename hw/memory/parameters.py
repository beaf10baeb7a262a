"""The parameter memory: per-column values for the way out of the accumulator."""

from amaranth import Module, Signal, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In

from celosia.hw.lib.sleep import resting
from celosia.hw.memory.garbage import garbage
from celosia.hw.memory.ports import ParameterWrite, row_shape
from celosia.hw.memory.read_port import ParameterRead, RowRead, RowReadInterface
from celosia.isa.config import AcceleratorConfig

__all__ = ["ParameterMemory"]


class ParameterMemory(wiring.Component):
    """Rows of ``dim`` int32 with a write port and read ports, none of which ever waits.

    A row is on ``data`` `LOCAL_READ_LATENCY` cycles after its request; a row that is written can be
    read from the next cycle on.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``vector_lanes`` and ``parameter_rows``.
    memory_seed : int or None
        Seed of the contents at power-on; zeros without one.

    Members
    -------
    load : ``In(stream.Signature(ParameterWrite(config), always_ready=True))``
        Rows from memory.
    store : ``In(RowRead(row, elements))``
        Reads for rows on their way out.
    transform : ``In(RowRead(row, elements))``
        Biases and gammas of transforms, if there is a normalization unit.
    transform2 : ``In(ParameterRead(config))``
        Parts of their scales and betas: each row is as many as there are parts of one.
    """

    load: stream.Interface
    store: RowReadInterface
    transform: RowReadInterface
    transform2: RowReadInterface

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self._seed = memory_seed
        elements = data.ArrayLayout(signed(32), config.dim)
        read = RowRead(row_shape(config.parameter_rows), elements)
        super().__init__({
            "load": In(stream.Signature(ParameterWrite(config), always_ready=True)),
            "store": In(read),
            "transform": In(read),
            "transform2": In(ParameterRead(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        depth, bits = self.config.parameter_rows, 32 * self.config.dim
        init = garbage(depth, bits, self._seed)
        m.submodules.rows = memory = Memory(shape=unsigned(bits), depth=depth, init=init)
        write = memory.write_port(granularity=32)
        with m.If(self.load.valid):
            m.d.comb += write.en.eq(self.load.p.mask)
        m.d.comb += [
            write.addr.eq(self.load.p.row),
            write.data.eq(self.load.p.data.as_value()),
        ]
        for name in ("store", *["transform", "transform2"] * self.config.normalization):
            port, read = getattr(self, name), memory.read_port()
            granted = Signal(name=f"{name}_granted")
            word = Signal(len(port.data.as_value()), name=f"{name}_word", reset_less=True)
            row = read.data
            if parts := (bits // len(word)).bit_length() - 1:
                part = Signal(parts, name=f"{name}_part", reset_less=True)
                m.d.sync += part.eq(port.row)
                row = row.word_select(part, len(word))
            m.d.comb += [
                read.en.eq(port.valid),
                read.addr.eq(port.row >> parts),
                port.ready.eq(1),
            ]
            m.d.sync += granted.eq(port.valid)
            with m.If(resting(platform, granted)):
                m.d.sync += word.eq(row)
            m.d.comb += port.data.as_value().eq(word)
        return m
