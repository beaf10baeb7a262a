"""The statistics memory: what is known of rows, from one operation to the next."""

from typing import Annotated, Any

from amaranth import Cat, Module, Signal, signed, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data
from amaranth.lib.memory import Memory, ReadPort
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.early_queue import EarlyQueue
from celosia.hw.lib.sleep import resting
from celosia.hw.memory.garbage import garbage
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import RowRead, RowReadInterface
from celosia.hw.vector.background import Background
from celosia.hw.vector.reduction import MaximumWrite, RowSums, SumsWrite
from celosia.hw.vector.steps import Normalization, RowFacts
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics.normalization import MEAN_BITS

__all__ = ["Statistics"]


class Statistics(Component):
    """Slots that keep the maximum and the sums of a row, and the facts derived from its sums.

    Nothing waits.  Reads are answered `LOCAL_READ_LATENCY` later, and what is written can be read
    from the next cycle on.  Sums that finish their row are queued for `Background`, which reads
    them from their slot: neither may a slot with such sums be written again, nor are its facts
    there, while ``busy``.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``statistics_rows``.
    memory_seed : int or None
        Seed of the contents at power-on; zeros without one.

    Members
    -------
    maximum_write : ``In(MaximumWrite(config))``
        Sets a maximum.
    sums_write : ``In(SumsWrite(config))``
        Sets sums, squares only if they were counted.
    maximum : ``In(RowRead(slot, signed(32)))``
        Reads maxima.
    sums : ``In(RowRead(slot, RowSums()))``
        Reads sums.
    facts : ``In(RowRead(slot, RowFacts()))``
        Reads facts.
    norm : ``In(Normalization())``
        How rows are normalized whose squares are counted; stands still while ``busy``.
    derived : ``Out(1)``
        The last fact of a row is written: in the order of `sums_write` for rows of one kind.
    busy : ``Out(1)``
        There are, or were in the cycle before, sums that finish their row and whose facts are not
        all written yet.
    """

    maximum_write: data.View
    sums_write: data.View
    maximum: RowReadInterface
    sums: RowReadInterface
    facts: RowReadInterface
    norm: Annotated[data.View, In(Normalization())]
    derived: Annotated[Signal, Out(1)]
    busy: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self._seed = memory_seed
        slot = row_shape(config.statistics_rows)
        super().__init__({
            "maximum_write": In(MaximumWrite(config)),
            "sums_write": In(SumsWrite(config)),
            "maximum": In(RowRead(slot, signed(32))),
            "sums": In(RowRead(slot, RowSums())),
            "facts": In(RowRead(slot, RowFacts())),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.background = background = Background(self.config)
        maximum, total, squares, mean, reciprocal = (
            self._memory(m, name, index, bits)
            for index, (name, bits) in enumerate({
                "maxima": 32, "totals": 32, "squares": 48, "means": MEAN_BITS, "reciprocals": 32,
            }.items())
        )  # fmt: skip
        sums = self.sums_write
        for memory, valid, slot, value in (
            (
                maximum,
                self.maximum_write.valid,
                self.maximum_write.slot,
                self.maximum_write.maximum,
            ),
            (total, sums.valid, sums.slot, sums.sums.total),
            (squares, sums.valid & sums.squared, sums.slot, sums.sums.squares),
            (mean, background.mean.valid, background.mean.slot, background.mean.fact),
            (
                reciprocal,
                background.reciprocal.valid,
                background.reciprocal.slot,
                background.reciprocal.fact,
            ),
        ):
            port = memory.write_port()
            m.d.comb += [port.en.eq(valid), port.addr.eq(slot), port.data.eq(value)]
        for port, memories in (
            (self.maximum, [maximum]),
            (self.sums, [total, squares]),
            (self.facts, [mean, reciprocal]),
        ):
            _serve(m, port, [memory.read_port() for memory in memories], platform)
        m.d.comb += [
            background.norm.eq(self.norm),
            self.derived.eq(background.reciprocal.valid),
        ]
        self._queue(m, background, total.read_port(), squares.read_port())
        return m

    def _memory(self, m: Module, name: str, index: int, bits: int) -> Memory:
        depth = self.config.statistics_rows
        seed = None if self._seed is None else self._seed + index
        memory = Memory(shape=unsigned(bits), depth=depth, init=garbage(depth, bits, seed))
        m.submodules[name] = memory
        return memory

    def _queue(self, m: Module, background: Background, total: ReadPort, squares: ReadPort) -> None:
        """Slots wait here; the sums of the next one are read ahead."""
        slot_bits = (self.config.statistics_rows - 1).bit_length()
        entry = data.StructLayout({"slot": slot_bits, "squared": 1})
        m.submodules.queue = queue = EarlyQueue(entry, depth=self.config.statistics_rows)
        sums, job = self.sums_write, background.job
        finishes = sums.valid & sums.finish
        reads = Signal()  # The slot that is on offer.
        m.d.comb += [
            queue.i.valid.eq(finishes),
            queue.i.p.slot.eq(sums.slot),
            queue.i.p.squared.eq(sums.squared),
            reads.eq(queue.o.valid & (~job.valid | job.ready)),
            queue.o.ready.eq(reads),
            job.p.sums.total.eq(total.data),
            job.p.sums.squares.eq(squares.data),
        ]
        # A register, since fences wait for it: it ends a cycle late, and begins in time.
        m.d.sync += self.busy.eq(finishes | queue.held | job.valid | background.busy)
        for port in (total, squares):
            m.d.comb += [port.en.eq(reads), port.addr.eq(queue.o.p.slot)]
        slot, squared = Signal(slot_bits, reset_less=True), Signal(reset_less=True)
        m.d.comb += [job.p.slot.eq(slot), job.p.squared.eq(squared)]
        valid = Signal()
        m.d.comb += job.valid.eq(valid)
        with m.If(finishes):
            m.d.sync += Assert(queue.i.ready, "more rows finish than there are slots")
        with m.If(~job.valid | job.ready):
            m.d.sync += valid.eq(queue.o.valid)
        with m.If(reads):
            m.d.sync += [slot.eq(queue.o.p.slot), squared.eq(queue.o.p.squared)]


def _serve(m: Module, port: RowReadInterface, reads: list[ReadPort], platform: object) -> None:
    """Answer `port` with the contents of memories, side by side."""
    granted = Signal()
    words = Cat(read.data for read in reads)
    answer = Signal(len(words), reset_less=True)
    for read in reads:
        m.d.comb += [read.en.eq(port.valid), read.addr.eq(port.row)]
    m.d.sync += granted.eq(port.valid)
    with m.If(resting(platform, granted)):
        m.d.sync += answer.eq(words)
    target: Any = port.data
    m.d.comb += [
        port.ready.eq(1),
        (target if isinstance(target, Signal) else target.as_value()).eq(answer),
    ]
