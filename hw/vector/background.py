"""What is derived from the sums of a row while the lanes work on others."""

from typing import Annotated, Any

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, enum, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.divider import DIVISOR_BITS, Divider
from celosia.hw.lib.fields import field_signals
from celosia.hw.lib.root import Root
from celosia.hw.lib.sleep import Wakeful
from celosia.hw.lib.stages import Stages
from celosia.hw.lib.wide import wide_sum
from celosia.hw.memory.ports import row_shape
from celosia.hw.vector.reduction import RowSums
from celosia.hw.vector.steps import Normalization, RowFacts
from celosia.isa.config import AcceleratorConfig
from celosia.isa.numerics import ISQRT_BITS
from celosia.isa.numerics.normalization import MEAN_BITS

__all__ = ["Background", "FactWrite", "RowJob"]

ROWS_UNDER_WAY = 2
"""The most rows that may be between the division for the mean and that by the root."""


class RowJob(data.StructLayout):
    """The sums of a row whose facts are wanted."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "slot": row_shape(config.statistics_rows),
            "squared": 1,  # Squares were counted: the facts are those of a normalization.
            "sums": RowSums(),
        })


class FactWrite(data.StructLayout):
    """One of a row's facts, for its slot."""

    def __init__(self, config: AcceleratorConfig, name: str):
        super().__init__({
            "valid": 1,
            "slot": row_shape(config.statistics_rows),
            "fact": RowFacts().members[name],
        })


class _Purpose(enum.Enum, shape=1):
    """The purpose of a division: the fact that it derives."""

    RECIPROCAL = 0
    MEAN = 1


class Background(Component):
    """Derives facts from the sums of rows; registers wrap where sums are those of no row.

    Of a row whose squares were not counted, ``reciprocal = reciprocal32(max(total, 1))``, where
    the total counts as unsigned.  Else ``mean`` and the root are those of `row_statistics`, with
    epsilon and without the mean as `norm` says, and ``reciprocal = reciprocal31(root)``.

    Everything is done with one divider and one root, whose works overlap: a row without squares
    takes `CYCLES` cycles, one with squares `SQUARED_CYCLES`, if rows follow each other; one alone
    has its reciprocal `LATENCY` or `SQUARED_LATENCY` cycles after its job is on offer, and the job
    is accepted one cycle after.  The facts of rows of one kind come in the order of their jobs.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``statistics_rows``.

    Members
    -------
    job : ``In(stream.Signature(RowJob(config)))``
        Rows.
    norm : ``In(Normalization())``
        What is known of a row with squares, which has at least 1 element; the same while any is
        under way.
    mean : ``Out(FactWrite(config, "mean"))``
        A slot's new mean.
    reciprocal : ``Out(FactWrite(config, "reciprocal"))``
        A slot's new reciprocal.
    busy : ``Out(1)``
        A job that was accepted is not over.
    """

    CYCLES = Divider.LATENCY
    SQUARED_CYCLES = 2 * Divider.LATENCY
    LATENCY = 1 + Divider.LATENCY
    SQUARED_LATENCY = 1 + 2 * Divider.LATENCY + 5 + Root.LATENCY

    job: stream.Interface
    norm: Annotated[data.View, In(Normalization())]
    mean: data.View
    reciprocal: data.View
    busy: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "job": In(stream.Signature(RowJob(config))),
            "mean": Out(FactWrite(config, "mean")),
            "reciprocal": Out(FactWrite(config, "reciprocal")),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.divider = divider = Divider()
        m.submodules.square_root = root = Root()

        # The division under way.
        purpose = Signal(_Purpose, reset_less=True)
        row = field_signals(RowJob(self.config), "row")
        negative = Signal(reset_less=True)

        job, under_way = self.job.p, Signal(range(ROWS_UNDER_WAY + 1))
        # What is divided for a job, or by what, while it stands: its sums come out of a memory.
        prepared, operand = Signal(), Signal(signed(DIVISOR_BITS + 1), reset_less=True)
        # A row begins: the first division of one with squares, or the only one.  It ends: by the
        # root, which goes first.
        begins, ends = Signal(), Signal()
        may_begin = ~job.squared | (under_way != ROWS_UNDER_WAY)
        m.d.comb += [
            ends.eq(root.o.valid & divider.request.ready),
            root.o.ready.eq(ends),
            self.job.ready.eq(prepared & divider.request.ready & ~root.o.valid & may_begin),
            begins.eq(self.job.valid & self.job.ready),
            divider.request.valid.eq(begins | ends),
            self.busy.eq(~divider.request.ready | divider.done | (under_way != 0)),
        ]
        _divide(m, divider.request.p, root.o, (job.squared, operand), self.norm.channels)

        found = divider.done & (purpose == _Purpose.MEAN)
        mean = Mux(negative, ~divider.quotient, divider.quotient)
        mean = Mux(self.norm.rms, 0, mean)[:MEAN_BITS].as_signed()
        stages = Stages(m, found, 5, free=isinstance(platform, Wakeful))
        root_slot = self._take_root(m, stages, row, mean, root.i)
        m.d.sync += [
            prepared.eq(self.job.valid & ~begins),
            operand.eq(_operand(job, self.norm.channels)),
        ]
        with m.If(begins):
            m.d.sync += [purpose.eq(job.squared), row.slot.eq(job.slot), negative.eq(operand[-1])]
            m.d.sync += [
                row.sums.total.eq(job.sums.total),
                row.sums.squares.eq(job.sums.squares),
            ]
        with m.If(ends):
            m.d.sync += [purpose.eq(_Purpose.RECIPROCAL), row.slot.eq(root_slot)]
        with m.If((begins & job.squared) != ends):
            m.d.sync += under_way.eq(Mux(ends, under_way - 1, under_way + 1))
        m.d.comb += [
            self.mean.valid.eq(found),
            self.mean.slot.eq(row.slot),
            self.mean.fact.eq(mean),
            self.reciprocal.valid.eq(divider.done & (purpose == _Purpose.RECIPROCAL)),
            self.reciprocal.slot.eq(row.slot),
            self.reciprocal.fact.eq(divider.quotient),
        ]
        return m

    def _take_root(
        self, m: Module, stages: Stages, row: Any, mean: Value, numbers: stream.Interface
    ) -> Value:
        """Give the sum of squared distances to the root; returns the slot of the one it takes.

        What waits for the root cannot be run into: so few rows are under way.
        """
        # Stage 1: what the next division must not change.
        slot = stages.line("slot", stages.register(1, "slot", row.slot), 1)
        squares = wide_sum(row.sums.squares, self.norm.epsilon, bits=ISQRT_BITS)
        squares = stages.line("squares", stages.register(1, "squares", squares), 1)
        total = stages.line("total", stages.register(1, "total", row.sums.total), 1)
        means = stages.line("mean", stages.register(1, "mean", mean), 1)
        # Stages 2 to 5: squares + mean * (mean * channels - 2 * total), by halves of the second.
        scaled = stages.register(2, "scaled", means[1] * self.norm.channels)
        rest = stages.register(3, "rest", scaled - (total[2] << 1))
        half = len(rest) // 2
        low = stages.register(4, "product_low", means[3] * rest[:half])
        high = stages.register(4, "product_high", means[3] * rest[half:].as_signed())
        distance = wide_sum(squares[4], low, high << half, bits=ISQRT_BITS)
        distance = stages.held(5, "distance", distance)
        waiting_slot = stages.held(5, "waiting_slot", slot[4])
        waits = Signal()
        with m.If(stages.valid[4]):
            m.d.sync += waits.eq(1)
        with m.Elif(numbers.ready):
            m.d.sync += waits.eq(0)
        m.d.comb += [numbers.valid.eq(waits), numbers.p.eq(distance)]
        root_slot = Signal.like(row.slot, name="root_slot")
        with m.If(waits & numbers.ready):
            m.d.sync += root_slot.eq(waiting_slot)
        return root_slot


def _operand(job: data.View, channels: Value) -> Value:
    """The total of a `job`: with squares plus half of the `channels`, else as 1 at least."""
    total = job.sums.total
    rounded = wide_sum(total, channels >> 1, bits=DIVISOR_BITS + 1)
    return Mux(job.squared, rounded, Cat(total[0] | (total == 0), total[1:]))


def _divide(
    m: Module,
    division: data.View,
    root: stream.Interface,
    job: tuple[Value, Value],
    channels: Value,
) -> None:
    """What to divide: for a root, else for a job: whether it has squares, and its operand."""
    squared, operand = job
    with m.If(root.valid):
        # 2^31, by a root of at least 1.
        m.d.comb += [
            division.dividend.eq(1 << DIVISOR_BITS - 1),
            division.divisor.eq(Mux(root.p == 0, Const(1, DIVISOR_BITS), root.p)),
        ]
    with m.Elif(squared):
        # The sign of what is divided is that of the mean.
        size = Mux(operand[-1], ~operand, operand)[:DIVISOR_BITS]
        m.d.comb += [division.dividend.eq(size), division.divisor.eq(channels)]
    with m.Else():
        # 2^32, by at least 1.
        m.d.comb += [
            division.carry.eq(operand[1:].any()),
            division.divisor.eq(operand),
        ]
