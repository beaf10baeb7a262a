"""LayerNorm and softmax in passes: records of statistics, and the rows that pass them."""

from typing import Annotated

from amaranth import Module, Mux, Signal, Value, signed, unsigned
from amaranth.lib import data
from amaranth.lib.wiring import In, Out

from celosia.hw.gemmini.norms.factor import FactorUnit, Wanted
from celosia.hw.gemmini.norms.lanes import BertLanes, Curve
from celosia.hw.gemmini.norms.op import CONSTANTS, PASSING
from celosia.hw.lib.component import Component
from celosia.hw.lib.delay import tapped_delay
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY
from celosia.isa.bert import STATISTICS, Activation, NormCommand
from celosia.isa.config import AcceleratorConfig

__all__ = ["PassingControl", "PassingRead"]

WORD_BITS = 32
LOWEST = -(1 << (WORD_BITS - 1))

_NOT_YET = {
    NormCommand.MEAN: NormCommand.SUM,
    NormCommand.INV_STDDEV: NormCommand.VARIANCE,
    NormCommand.INV_SUM_EXP: NormCommand.SUM_EXP,
}
"""What commands that end a row are in its other blocks."""

RECORD = data.StructLayout({
    "total": signed(WORD_BITS),
    "count": unsigned(WORD_BITS),
    "running": signed(WORD_BITS),  # Maximum so far.
    "largest": signed(WORD_BITS),  # Maximum of the row.
    "mean": signed(WORD_BITS),
    "deviation": unsigned(WORD_BITS),  # The scale over it, as float32.
    "probability": unsigned(WORD_BITS),  # The scale times 127 over the total, as float32.
})
"""What is known of a row."""


class PassingRead(data.StructLayout):
    """The row on offer."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "passing": PASSING,
            "scale": unsigned(WORD_BITS),
            "elements": range(config.dim + 1),  # Of the row that count.
            "last_in_row": 1,  # The last block of its row.
            "last": 1,  # Of its operation.
        })


class PassingControl(Component):
    """Lets rows pass `BertLanes` one by one where they need it, and keeps their statistics.

    A row of a norm command, or of an activation other than ReLU, is *special*: it waits until the
    lanes are empty, and nothing follows it before all that it leads to is done: `SPECIAL_CYCLES`
    after its grant, and `FactorUnit.MOST_CYCLES` more where a command ends a row.  Other rows pass
    one per cycle.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``.

    Members
    -------
    read : ``In(PassingRead(config))``
        The row on offer.
    granted : ``In(1)``
        It is read.
    free : ``Out(1)``
        It may be read.
    silent : ``Out(1)``
        It is not written to memory.
    scale : ``Out(32)``
        The bits of the float32 that it is scaled by.
    curve : ``Out(Curve)``
        For `BertLanes`.
    offset : ``Out(signed(32))``
        For `BertLanes`.
    constants : ``Out(CONSTANTS)``
        For `BertLanes`.
    row : ``In(ArrayLayout(signed(32), dim))``
        What leaves `BertLanes`.
    done : ``Out(1)``
        The last row of a silent operation is done, with all that it led to.
    """

    SPECIAL_CYCLES = LOCAL_READ_LATENCY + BertLanes.LATENCY + 2

    read: data.View
    granted: Annotated[Signal, In(1)]
    free: Annotated[Signal, Out(1)]
    silent: Annotated[Signal, Out(1)]
    scale: Annotated[Signal, Out(WORD_BITS)]
    curve: Annotated[Signal, Out(Curve)]
    offset: Annotated[Signal, Out(signed(WORD_BITS))]
    constants: Annotated[data.View, Out(CONSTANTS)]
    row: data.View
    done: Annotated[Signal, Out(1)]

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        init = [{"running": LOWEST}] * STATISTICS
        self._records = Signal(data.ArrayLayout(RECORD, STATISTICS), init=init)
        super().__init__({
            "read": In(PassingRead(config)),
            "row": In(data.ArrayLayout(signed(WORD_BITS), config.dim)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.factor = factor = FactorUnit()
        s, passing = _State(self.config), self.read.passing
        silent = passing.passes & (passing.command != NormCommand.RESET)
        activated = passing.passes & (passing.activation > Activation.RELU)
        special = silent | activated
        # Rows that are inside, and the row that has just left.
        inside = tapped_delay(
            m, self.granted, LOCAL_READ_LATENCY + BertLanes.LATENCY + 1, name="granted"
        )
        arrives = inside[-1] & s.busy
        m.d.comb += [
            self.silent.eq(silent),
            self.free.eq(~s.busy & (~special | ~inside[1:].any())),
            self.constants.eq(s.constants),
            self.curve.eq(s.curve),
            self.offset.eq(s.offset),
        ]
        record = self._record(passing.statistics)
        self._scale(m, record)
        with m.If(self.granted):
            m.d.sync += [s.busy.eq(special), s.curve.eq(Curve.LINEAR), s.offset.eq(0)]
            with m.If(special):
                self._begin(m, s, record)
            with m.If(passing.passes & ~silent):
                m.d.sync += [record.total.eq(0), record.count.eq(0), record.running.eq(LOWEST)]
        self._reduce(m, s, arrives)
        self._update(m, s, factor)
        return m

    def _record(self, number: Value) -> data.View:
        """The record of statistics of this `number`."""
        return self._records[number]

    def _scale(self, m: Module, record: data.View) -> None:
        activation = self.read.passing.activation
        m.d.comb += self.scale.eq(self.read.scale)
        with m.If(self.read.passing.passes):
            with m.If(activation == Activation.LAYERNORM):
                m.d.comb += self.scale.eq(record.deviation)
            with m.Elif(activation == Activation.SOFTMAX):
                m.d.comb += self.scale.eq(record.probability)

    def _begin(self, m: Module, s: "_State", record: data.View) -> None:
        """A special row is read: what becomes of it."""
        read = self.read
        command = Signal(NormCommand)
        m.d.comb += command.eq(read.passing.command)
        for final, other in _NOT_YET.items():
            with m.If((read.passing.command == final) & ~read.last_in_row):
                m.d.comb += command.eq(other)
        m.d.sync += [
            s.command.eq(command),
            s.number.eq(read.passing.statistics),
            s.constants.eq(read.passing.constants),
            s.scale.eq(read.scale),
            s.elements.eq(read.elements),
            s.last.eq(read.last & (read.passing.command != NormCommand.RESET)),
        ]
        with m.Switch(command):
            with m.Case(NormCommand.RESET), m.Switch(read.passing.activation):
                with m.Case(Activation.LAYERNORM):
                    m.d.sync += s.offset.eq(record.mean)
                with m.Case(Activation.IGELU):
                    m.d.sync += s.curve.eq(Curve.GELU)
                with m.Case(Activation.SOFTMAX):
                    m.d.sync += [s.offset.eq(record.largest), s.curve.eq(Curve.EXPONENTIAL)]
            with m.Case(NormCommand.VARIANCE, NormCommand.INV_STDDEV):
                m.d.sync += [s.offset.eq(record.mean), s.curve.eq(Curve.SQUARE)]
            with m.Case(NormCommand.SUM_EXP, NormCommand.INV_SUM_EXP):
                m.d.sync += [
                    record.largest.eq(record.running),
                    s.offset.eq(record.running),
                    s.curve.eq(Curve.EXPONENTIAL),
                ]

    def _reduce(self, m: Module, s: "_State", arrives: Value) -> None:
        """The sum and the maximum of the row that leaves the lanes."""
        m.d.sync += s.reduced.eq(arrives)
        with m.If(arrives):
            total, largest = 0, LOWEST
            for lane in range(self.config.dim):
                counts, element = s.elements > lane, self.row[lane]
                total = (total + Mux(counts, element, 0)).as_signed()
                # Named, because an expression would be written out twice in the next one.
                larger = Signal(signed(WORD_BITS), name=f"largest_of_{lane + 1}")
                m.d.comb += larger.eq(Mux(counts & (element > largest), element, largest))
                largest = larger
            m.d.sync += [s.total.eq(total), s.largest.eq(largest)]

    def _update(self, m: Module, s: "_State", factor: FactorUnit) -> None:
        """Keep them in the record, and go on to what they lead to."""
        record = self._record(s.number)
        total, count = (record.total + s.total)[:WORD_BITS], record.count + s.elements
        ends = Signal()
        m.d.comb += [
            factor.scale.eq(s.scale),
            factor.total.eq(total),
            factor.count.eq(count),
            self.done.eq(ends & s.last),
        ]
        with m.If(ends):
            m.d.sync += s.busy.eq(0)
        with m.If(s.reduced):
            m.d.comb += ends.eq(1)
            with m.Switch(s.command):
                with m.Case(NormCommand.MAX):
                    m.d.sync += record.running.eq(
                        Mux(s.largest > record.running, s.largest, record.running)
                    )
                with m.Case(NormCommand.SUM, NormCommand.VARIANCE):
                    m.d.sync += [record.total.eq(total), record.count.eq(count)]
                with m.Case(NormCommand.SUM_EXP):
                    m.d.sync += record.total.eq(total)
                for command, wanted in (
                    (NormCommand.MEAN, Wanted.MEAN),
                    (NormCommand.INV_STDDEV, Wanted.DEVIATION),
                    (NormCommand.INV_SUM_EXP, Wanted.PROBABILITY),
                ):
                    with m.Case(command):
                        m.d.comb += [
                            ends.eq(0),
                            factor.start.eq(1),
                            factor.wanted.eq(wanted),
                        ]
                        if wanted is Wanted.PROBABILITY:
                            m.d.sync += record.total.eq(total)
                        else:
                            m.d.sync += [record.total.eq(0), record.count.eq(0)]
        with m.If(factor.done):
            m.d.comb += ends.eq(1)
            with m.Switch(s.command):
                with m.Case(NormCommand.MEAN):
                    m.d.sync += record.mean.eq(factor.result)
                with m.Case(NormCommand.INV_STDDEV):
                    m.d.sync += record.deviation.eq(factor.result)
                with m.Case(NormCommand.INV_SUM_EXP):
                    m.d.sync += record.probability.eq(factor.result)


class _State:
    """The special row that is inside."""

    def __init__(self, config: AcceleratorConfig):
        self.busy = Signal()
        self.curve = Signal(Curve)
        self.offset = Signal(signed(WORD_BITS))
        self.constants = Signal(CONSTANTS, reset_less=True)
        self.command = Signal(NormCommand, reset_less=True)
        self.number = Signal(range(STATISTICS), reset_less=True)
        self.scale = Signal(WORD_BITS, reset_less=True)
        self.elements = Signal(range(config.dim + 1), reset_less=True)
        self.last = Signal(reset_less=True)  # The operation ends with it, silently.
        self.reduced = Signal()  # What follows has been computed.
        self.total = Signal(signed(WORD_BITS), reset_less=True)
        self.largest = Signal(signed(WORD_BITS), reset_less=True)
