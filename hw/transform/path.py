"""The transform path: everything between an operation and the scratchpad."""

from typing import Annotated, Any

from amaranth import Cat, Const, Module, Mux, Signal, Value, signed, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data, enum, stream
from amaranth.lib.fifo import SyncFIFOBuffered
from amaranth.lib.wiring import In, Out, connect, flipped

from celosia.hw.bus.bus import Fault
from celosia.hw.decode.ops import TAG_BITS
from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.lib.delay import delay
from celosia.hw.lib.queue import Queue
from celosia.hw.lib.sleep import Sleeping
from celosia.hw.memory.ports import ScratchpadWrite, row_shape
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY, ParameterRead, RowRead
from celosia.hw.transform.controller import Placement, TransformController
from celosia.hw.transform.endings import Endings
from celosia.hw.transform.order import TransformOrder
from celosia.hw.transform.pace import Pace
from celosia.hw.transform.reader import TransformReader
from celosia.hw.transform.register import StepRegister
from celosia.hw.transform.writer import BUFFER_WORDS, Placer, words_minus_1
from celosia.hw.vector.lanes import Lanes
from celosia.hw.vector.modes import Mode
from celosia.hw.vector.parts import part_shape
from celosia.hw.vector.statistics import Statistics
from celosia.isa.config import AcceleratorConfig
from celosia.isa.latencies import lane_latency
from celosia.isa.registers.errors import Cause

__all__ = ["TransformPath", "VectorState", "in_flight"]


def in_flight(config: AcceleratorConfig, scalings: int = 2) -> int:
    """Cycles from a step of ``dim`` elements that is accepted to its result, scaled so often."""
    return TransformReader.LATENCY + lane_latency(scalings, config.row_parts)


class VectorState(enum.Enum, shape=3):
    """What the transform path does in a cycle: the first that is true."""

    IDLE = 0  # None of these.
    STEP = 1  # A step enters the lanes, or a further part of one.
    # The result of the step before takes several rows, one after the other; or the scaler has the
    # results of others, or the lanes what must not be overtaken.
    WORDS = 2
    ROOM = 3  # There is no room for the result of the next step.
    BANK = 4  # A row of the next step waits for its bank.
    ORDER = 5  # The next operation waits for statistics or parameters.
    STAGES = 6  # Something is under way.


class TransformPath(Sleeping):
    """Executes TRANSFORMs, each right behind the one before it.

    ::

        TransformController ─► StepRegister ─► TransformReader ─► Lanes ─► Placer ─► scratchpad
                                                                    └─► Statistics (background:
                                                                        root, divider)

    A step of n parts of a row is accepted in n cycles, while local memories grant its rows, its
    results have room, and the one before it is far enough ahead (`Pace`): a result of n words takes
    n cycles.  The result of a whole row is there up to `in_flight` cycles later.  What local
    memories are asked for comes from registers: whether a step has to wait is known a cycle ahead.

    The next operation is taken when the last step of the one before it goes into the register, and
    its steps follow without a pause: the lanes never know.  The first of them waits only for what
    `TransformOrder` says; that it does not read local rows before they are written is up to the
    user.  Operations end in order.  The path sleeps while it has nothing to do, the lanes while
    they have.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Configuration of the accelerator, with ``normalization``.
    memory_seed : int or None
        Seed of the statistics at power-on, in Amaranth's simulator.

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
    parameters2 : ``Out(ParameterRead(config))``
        Reads of parts of scales and betas, likewise.
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
    state : ``Out(VectorState)``
        What happens in this cycle.
    function : ``Out(4)``
        Function of the step that enters the lanes.
    fault : ``Out(Fault())``
        A column's scale is too long, in the oldest operation that is not done: SCALE.
    """

    op: stream.Interface
    accumulator: Any
    scratchpad: Any
    parameters: Any
    parameters2: Any
    words: stream.Interface
    words2: stream.Interface
    reads_done: Annotated[Signal, Out(1)]
    done: Annotated[Signal, Out(1)]
    idle: Annotated[Signal, Out(1)]
    state: Annotated[Any, Out(VectorState)]
    function: Signal
    fault: Annotated[data.View, Out(Fault())]

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
            "parameters2": Out(ParameterRead(config)),
            "words": Out(stream.Signature(ScratchpadWrite(config))),
            "words2": Out(stream.Signature(ScratchpadWrite(config))),
            "function": Out(TransformOp(config).members["function"]),
        })

    def build(self, m: Module, outer: Module) -> Value:
        config = self.config
        m.submodules.controller = controller = TransformController(config)
        m.submodules.register = register = StepRegister(config)
        m.submodules.reader = reader = TransformReader(config)
        outer.submodules.lanes = lanes = Lanes(config)
        m.submodules.statistics = statistics = Statistics(config, memory_seed=self._seed)
        m.submodules.endings = endings = Endings(config)

        connect(m, flipped(self.op), controller.op)
        connect(m, register.o, reader.steps)
        connect(m, reader.accumulator, flipped(self.accumulator))
        connect(m, reader.scratchpad, flipped(self.scratchpad))
        connect(m, reader.maximum, statistics.maximum)
        connect(m, lanes.facts, statistics.facts)
        connect(m, lanes.sums, statistics.sums)
        m.d.comb += [
            lanes.start.eq(reader.start),
            lanes.step.eq(reader.step),
            lanes.row.eq(reader.row),
            lanes.maximum.eq(statistics.maximum.data),
            statistics.maximum_write.eq(lanes.maximum_write),
            statistics.sums_write.eq(lanes.sums_write),
        ]
        self._share_parameters(m, reader, lanes)
        self._place(m, controller, reader, register, lanes, endings)
        self._sequence(m, controller, register, lanes, statistics, endings)

        busy, lately = self.op.valid | ~self.idle, Signal()
        outer.d.sync += lately.eq(busy)
        return busy | lately  # `done` and `reads_done` end after `idle`.

    def _share_parameters(self, m: Module, reader: TransformReader, lanes: Lanes) -> None:
        """An operation reads biases and scales, or gammas and betas: two ports do.

        Biases are whole rows; of one with gammas, lanes get the part that they ask for.
        """
        port, bits = self.parameters, (self.config.row_parts - 1).bit_length()
        for user in (lanes.scales, lanes.beta):
            with m.If(user.valid):
                m.d.comb += [self.parameters2.valid.eq(1), self.parameters2.row.eq(user.row)]
            m.d.comb += [user.ready.eq(1), user.data.eq(self.parameters2.data)]
        part = Signal(part_shape(self.config))
        with m.If(lanes.gamma.valid):
            m.d.comb += [port.valid.eq(1), port.row.eq(lanes.gamma.row >> bits)]
            m.d.comb += part.eq(lanes.gamma.row[:bits])
        part = delay(m, part, LOCAL_READ_LATENCY, name="parameter_part")
        gammas = port.data.as_value().word_select(part, 32 * self.config.lanes)
        m.d.comb += [lanes.gamma.ready.eq(1), lanes.gamma.data.eq(gammas)]
        with m.If(reader.parameters.valid):
            row = reader.parameters.row
            m.d.comb += [self.parameters.valid.eq(1), self.parameters.row.eq(row)]
        m.d.comb += [
            reader.parameters.ready.eq(1),
            reader.parameters.data.eq(self.parameters.data),
            lanes.bias.eq(self.parameters.data),
        ]

    def _place(self, m: Module, controller, reader, register, lanes: Lanes, endings) -> None:
        """Give results their places, and hold steps whose results would find none."""
        step, coming, accepted = register.o.p, register.i.p, register.o.ready
        moves = register.i.valid & register.i.ready
        one, short = Placement(self.config), bool(self.config.zero_scale_bits)
        layout = data.StructLayout({"one": one, "two": one, "last": unsigned(short)})
        m.submodules.places = fifo = SyncFIFOBuffered(width=layout.size, depth=BUFFER_WORDS + 1)
        place = layout(fifo.r_data)
        m.d.comb += [
            fifo.w_en.eq(accepted & step.target.valid),
            fifo.w_data.eq(Cat(step.target, step.target2, step.last if short else Const(0, 0))),
            fifo.r_en.eq(lanes.result),
            endings.accepted.eq(accepted),
            endings.last.eq(step.last),
            endings.moves.eq(moves),
        ]
        if short:
            self._blame(m, step, accepted, lanes, place.last)
        for half, (target, later, result, words) in enumerate((
            (step.target, coming.target, place.one, self.words),
            (step.target2, coming.target2, place.two, self.words2),
        )):
            m.submodules[f"placer_{half}"] = placer = Placer(self.config, half=half)
            connect(m, placer.words, flipped(words))
            m.d.comb += [
                placer.valid.eq(lanes.result & result.valid),
                placer.place.eq(result),
                *(x.eq(y) for x, y in zip(placer.elements, lanes.elements, strict=True)),
                endings.words[half].eq(_words(self.config, target)),
                endings.coming[half].eq(_words(self.config, later)),
                endings.taken[half].eq(words.valid & words.ready),
            ]
        m.submodules.pace = pace = Pace(self.config)
        m.d.comb += [
            pace.accepted.eq(accepted),
            _paced(self.config, pace.step, step),
            _paced(self.config, pace.coming, coming),
            pace.taken.eq(moves),
            reader.hold.eq(pace.entering | pace.early | pace.behind | ~endings.fits),
        ]
        self._tell(m, controller, register, pace, endings)

    def _blame(
        self, m: Module, step: data.View, accepted: Value, lanes: Lanes, last: Value
    ) -> None:
        """Drive `fault`: the tags of operations with results wait until their last one is there."""
        m.submodules.tags = tags = Queue(unsigned(TAG_BITS), 2 * self.config.transform_queue)
        begun = Signal()
        m.d.comb += [
            tags.i.valid.eq(accepted & step.target.valid & ~begun),
            tags.i.p.eq(step.tag),
            tags.o.ready.eq(lanes.result & last),
            self.fault.valid.eq(lanes.result & lanes.long),
            self.fault.cause.eq(Cause.SCALE),
            self.fault.tag.eq(tags.o.p),
        ]
        with m.If(accepted):
            m.d.sync += begun.eq((begun | step.target.valid) & ~step.last)
        m.d.sync += Assert(~tags.i.valid | tags.i.ready, "more operations than wait or run at once")

    def _tell(self, m: Module, controller, register, pace: Pace, endings: Endings) -> None:
        """Drive `state` and `function`."""
        steps, function = register.o, Signal.like(self.function, reset_less=True)
        accepted = steps.valid & steps.ready
        with m.If(accepted):
            m.d.sync += function.eq(steps.p.function)
        m.d.comb += self.function.eq(Mux(pace.entering, function, steps.p.function))
        with m.If(accepted | pace.entering):
            m.d.comb += self.state.eq(VectorState.STEP)
        with m.Elif(steps.valid):
            early = pace.early | pace.behind
            m.d.comb += self.state.eq(Mux(early, VectorState.WORDS, VectorState.BANK))
            with m.If(~early & ~endings.fits):
                m.d.comb += self.state.eq(VectorState.ROOM)
        with m.Elif(controller.steps.valid & ~register.i.valid):
            m.d.comb += self.state.eq(VectorState.ORDER)
        with m.Elif(self.idle):
            m.d.comb += self.state.eq(VectorState.IDLE)
        with m.Else():
            m.d.comb += self.state.eq(VectorState.STAGES)

    def _sequence(self, m, controller, register, lanes, statistics, endings: Endings) -> None:
        """Begin operations, and tell of their ends."""
        m.submodules.order = order = TransformOrder(self.config)
        under_way = in_flight(self.config) + 1
        left = Signal(range(under_way + 1))  # Cycles until the lanes are empty.
        accepted, last = register.o.ready, register.o.p.last
        lanes_busy = controller.steps.valid | register.o.valid | (left != 0)
        waits = controller.begins & order.waits
        m.d.comb += [
            order.op.eq(controller.kept),
            order.taken.eq(register.i.valid & register.i.ready & controller.begins),
            order.accepted.eq(accepted),
            order.last.eq(last),
            order.derived.eq(statistics.derived),
            lanes.busy.eq(left != 0),
            lanes.constants.eq(order.constants),
            statistics.norm.eq(order.norm),
            register.i.valid.eq(controller.steps.valid & ~waits),
            register.i.p.eq(controller.steps.p),
            controller.steps.ready.eq(register.i.ready & ~waits),
            self.done.eq(endings.done),
            self.idle.eq(~lanes_busy & endings.idle & ~statistics.busy),
        ]
        with m.If(accepted):
            m.d.sync += left.eq(under_way)
        with m.Elif(left != 0):
            m.d.sync += left.eq(left - 1)
        m.d.sync += self.reads_done.eq(accepted & last)


def _paced(config: AcceleratorConfig, paced: data.View, step: data.View) -> Any:
    """What `Pace` is told of `step`."""
    fields = {
        "last_part": step.lane.last_part,
        "whole": step.lane.mode == Mode.MAXIMUM,
        "scaled": ~step.lane.scaling.raw,
        "rescaled": ~step.lane.scaling2.raw,
        "result": step.target.valid,
        "last_word": words_minus_1(config, step.target),
    }
    return [paced[name].eq(value) for name, value in fields.items()]


def _words(config: AcceleratorConfig, place: data.View) -> Value:
    """Local rows that a result takes."""
    return Mux(place.valid, words_minus_1(config, place) + 1, 0)
