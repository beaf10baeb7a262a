"""The transform path: everything between an operation and the scratchpad."""

from typing import Any

from amaranth import Cat, Module, Mux, ResetSignal, Signal, Value, signed, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.lib.sleep import AWAKE, sleeper
from celosia.hw.memory.ports import ScratchpadWrite, row_shape
from celosia.hw.memory.read_port import RowRead
from celosia.hw.transform.controller import Placement, TransformController
from celosia.hw.transform.op import TransformOp
from celosia.hw.transform.reader import TransformReader
from celosia.hw.transform.writer import BUFFER_WORDS, Placer, words_minus_1
from celosia.hw.vector.lanes import Lanes
from celosia.hw.vector.statistics import Statistics
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Function

__all__ = ["TransformPath"]

IN_FLIGHT = TransformReader.LATENCY + Lanes.LATENCY
"""Cycles from a step that is accepted to its result."""

_READ_FACTS = (Function.PROBABILITY, Function.CONTEXT, Function.LAYERNORM)
_SUM = (Function.EXPONENT, Function.SUM, Function.MOMENTS)


class TransformPath(wiring.Component):
    """Executes TRANSFORMs, one after the other.

    ::

        TransformController ─► TransformReader ─► Lanes ─► Placer ─► scratchpad
                                                    └─► Statistics (background: root, divider)

    A step is accepted per cycle, while local memories grant its rows, its results have room, and
    the one before it is far enough ahead: a result of n words takes n cycles.  The next operation
    is taken when all results of the last one are in the scratchpad, `IN_FLIGHT` cycles and a few
    after its last step.  It waits further while the background still derives facts that it reads,
    or from sums in slots that it changes.  The path sleeps while it has nothing to do.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Of the accelerator, with ``normalization``.
    memory_seed : int or None
        Of the statistics at power-on, in Amaranth's simulator.

    Members
    -------
    op : ``In(stream.Signature(TransformOp(config)))``
        Operations whose hazards have been resolved.
    accumulator : ``Out(RowRead(row, ArrayLayout(signed(32), dim)))``
        Reads of rows of int32.
    scratchpad : ``Out(RowRead(row, ArrayLayout(unsigned(8), dim)))``
        Reads of rows of int16.
    parameters : ``Out(RowRead(row, ArrayLayout(signed(32), dim)))``
        Reads of biases and gammas, each of which must be granted at once.
    parameters2 : ``Out(RowRead(row, ArrayLayout(signed(32), dim)))``
        Reads of scales and betas, likewise.
    words : ``Out(stream.Signature(ScratchpadWrite(config)))``
        First results.
    words2 : ``Out(stream.Signature(ScratchpadWrite(config)))``
        Second results.
    reads_done : ``Out(1)``
        The last local row of an operation was granted in the cycle before.
    done : ``Out(1)``
        The last result of an operation was taken in the cycle before.
    idle : ``Out(1)``
        Nothing is being worked on.
    """

    op: stream.Interface
    accumulator: Any
    scratchpad: Any
    parameters: Any
    parameters2: Any
    words: stream.Interface
    words2: stream.Interface
    reads_done: Signal
    done: Signal
    idle: Signal

    def __init__(self, config: AcceleratorConfig, *, memory_seed: int | None = None):
        self.config = config
        self._seed = memory_seed
        narrow = data.ArrayLayout(unsigned(8), config.dim)
        wide = data.ArrayLayout(signed(32), config.dim)
        parameters = RowRead(row_shape(config.parameter_rows), wide)
        super().__init__({
            "op": In(stream.Signature(TransformOp(config))),
            "accumulator": Out(RowRead(row_shape(config.accumulator_rows), wide)),
            "scratchpad": Out(RowRead(row_shape(config.scratchpad_rows), narrow)),
            "parameters": Out(parameters),
            "parameters2": Out(parameters),
            "words": Out(stream.Signature(ScratchpadWrite(config))),
            "words2": Out(stream.Signature(ScratchpadWrite(config))),
            "reads_done": Out(1),
            "done": Out(1),
            "idle": Out(1),
        })

    def elaborate(self, platform) -> Module:
        m, unit = Module(), Module()
        awake, lately = Signal(name=AWAKE), Signal()  # `done` and `reads_done` end after `idle`.
        busy = self.op.valid | ~self.idle
        m.d.sync += lately.eq(busy)
        m.d.comb += awake.eq(busy | lately | ResetSignal())
        m.submodules.unit = sleeper(unit, awake)
        self._build(unit)
        return m

    def _build(self, m: Module) -> None:
        """What sleeps."""
        config = self.config
        m.submodules.controller = controller = TransformController(config)
        m.submodules.reader = reader = TransformReader(config)
        m.submodules.lanes = lanes = Lanes(config)
        m.submodules.statistics = statistics = Statistics(config, memory_seed=self._seed)
        m.submodules.placer = placer = Placer(config)
        m.submodules.placer2 = placer2 = Placer(config, half=1)

        connect(m, controller.steps, reader.steps)
        connect(m, reader.accumulator, flipped(self.accumulator))
        connect(m, reader.scratchpad, flipped(self.scratchpad))
        connect(m, reader.maximum, statistics.maximum)
        connect(m, lanes.facts, statistics.facts)
        connect(m, lanes.sums, statistics.sums)
        connect(m, placer.words, flipped(self.words))
        connect(m, placer2.words, flipped(self.words2))
        m.d.comb += [
            lanes.start.eq(reader.start),
            lanes.step.eq(reader.step),
            lanes.row.eq(reader.row),
            lanes.maximum.eq(statistics.maximum.data),
            statistics.maximum_write.eq(lanes.maximum_write),
            statistics.sums_write.eq(lanes.sums_write),
        ]
        self._share_parameters(m, reader, lanes)
        rooms = self._place(m, reader, lanes, placer, placer2)
        self._sequence(m, controller, reader, lanes, statistics, rooms)

    def _share_parameters(self, m: Module, reader: TransformReader, lanes: Lanes) -> None:
        """An operation reads biases and scales, or gammas and betas: two ports do."""
        for port, users in (
            (self.parameters, (reader.parameters, lanes.gamma)),
            (self.parameters2, (lanes.scales_in, lanes.scales_out, lanes.beta)),
        ):
            for user in users:
                with m.If(user.valid):
                    m.d.comb += [port.valid.eq(1), port.row.eq(user.row)]
                m.d.comb += [user.ready.eq(1), user.data.eq(port.data)]
        m.d.comb += lanes.bias.eq(self.parameters.data)

    def _place(
        self, m: Module, reader: TransformReader, lanes: Lanes, placer: Placer, placer2: Placer
    ) -> list[Value]:
        """Give results their places.  Returns whether each buffer is empty."""
        step, accepted = reader.steps.p, reader.steps.ready
        layout = data.StructLayout({"one": Placement(self.config), "two": Placement(self.config)})
        m.submodules.places = fifo = SyncFIFOBuffered(width=layout.size, depth=BUFFER_WORDS + 1)
        place = layout(fifo.r_data)
        m.d.comb += [
            fifo.w_en.eq(accepted & step.target.valid),
            fifo.w_data.eq(Cat(step.target, step.target2)),
            fifo.r_en.eq(lanes.result.valid),
        ]
        empty, fits = [], []
        for target, result, unit in (
            (step.target, place.one, placer),
            (step.target2, place.two, placer2),
        ):
            m.d.comb += [
                unit.valid.eq(lanes.result.valid & result.valid),
                unit.place.eq(result),
                *(x.eq(y) for x, y in zip(unit.elements, lanes.elements, strict=True)),
            ]
            room = Signal(range(BUFFER_WORDS + 1), init=BUFFER_WORDS)  # For words not begun yet.
            words = words_minus_1(self.config, target) + 1
            taken = Mux(accepted & target.valid, words, 0)
            left = unit.words.valid & unit.words.ready
            with m.If((accepted & target.valid) | left):
                m.d.sync += room.eq(room - taken + left)
            empty.append(room == BUFFER_WORDS)
            fits.append((room >= words) | ~target.valid)
        # Cycles until the next result may follow the last one.
        gap = Signal(2)
        with m.If(accepted):
            m.d.sync += gap.eq(Mux(step.target.valid, words_minus_1(self.config, step.target), 0))
        with m.Elif(gap != 0):
            m.d.sync += gap.eq(gap - 1)
        m.d.comb += reader.hold.eq(((gap != 0) & step.target.valid) | ~Cat(fits).all())
        return empty

    def _sequence(self, m, controller, reader, lanes, statistics, empty: list[Value]) -> None:
        """Begin and end operations."""
        op = self.op.p
        running, walked = Signal(), Signal()  # An operation runs; all its rows are read.
        left = Signal(range(IN_FLIGHT + 2))  # Cycles until the lanes are empty.
        accepted, over = reader.steps.ready, Signal()
        taken = self.op.valid & self.op.ready
        m.d.comb += [
            self.op.ready.eq(~running & ~self._must_wait(m, op, statistics, taken)),
            controller.op.valid.eq(taken),
            controller.op.p.eq(op),
            over.eq(running & walked & (left == 0) & Cat(empty).all()),
            self.idle.eq(~running & ~statistics.busy),
        ]
        with m.If(taken):
            m.d.sync += [running.eq(1), walked.eq(0), lanes.constants.eq(op.constants)]
        with m.If(accepted):
            m.d.sync += [left.eq(IN_FLIGHT + 1), walked.eq(reader.steps.p.last)]
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        with m.If(over):
            m.d.sync += running.eq(0)
        m.d.sync += [
            self.reads_done.eq(accepted & reader.steps.p.last),
            self.done.eq(over),
        ]

    def _must_wait(self, m: Module, op: data.View, statistics: Statistics, taken: Value) -> Value:
        """Whether the background still has what `op` reads, or reads what `op` changes."""
        first, last = Signal.like(op.slot), Signal.like(op.slot)  # Slots in the background.
        own_last = (op.slot + op.rows - 1)[: len(op.slot)]
        sums, facts = Signal(), Signal()
        with m.Switch(op.function):
            with m.Case(*_READ_FACTS):
                m.d.comb += facts.eq(1)
            with m.Case(*_SUM):
                m.d.comb += sums.eq(1)
            with m.Case(Function.RESIDUAL):
                m.d.comb += sums.eq(op.moments)
        with m.If(taken & sums & op.finish):
            keep = statistics.busy
            m.d.sync += [
                statistics.channels.eq(op.channels),
                first.eq(Mux(keep & (first < op.slot), first, op.slot)),
                last.eq(Mux(keep & (last > own_last), last, own_last)),
            ]
        meets = (op.slot <= last) & (first <= own_last)
        other = op.finish & (op.channels != statistics.channels)
        return statistics.busy & (facts | (sums & (meets | other)))
