"""Reads what a step of TRANSFORM works on, and starts the lanes."""

from typing import Annotated, Any

from amaranth import Cat, Module, Mux, Signal, signed, unsigned
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.hw.lib.delay import tapped_delay
from celosia.hw.lib.sleep import resting
from celosia.hw.memory.ports import row_shape
from celosia.hw.memory.read_port import LOCAL_READ_LATENCY, RowRead
from celosia.hw.transform.controller import TransformStep
from celosia.hw.vector.steps import LaneStep
from celosia.isa.config import AcceleratorConfig

__all__ = ["TransformReader"]

STAGED_BITS = 16


class TransformReader(Component):
    """Asks for the rows of a step, and hands them to the lanes when they are there.

    A step is accepted in the cycle in which all its rows are granted, at most one per cycle, and
    starts `LATENCY` cycles later.  It waits while `hold`, and while a memory serves others; a row
    that one memory granted while the other one did not is asked for again.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim`` and the sizes of the local memories.

    Members
    -------
    steps : ``In(stream.Signature(TransformStep(config)))``
        What to read.
    hold : ``In(1)``
        Accept nothing.
    accumulator : ``Out(RowRead(row, ArrayLayout(signed(32), dim)))``
        Rows of int32.
    scratchpad : ``Out(RowRead(row, ArrayLayout(unsigned(8), dim)))``
        Rows of int16.
    parameters : ``Out(RowRead(row, ArrayLayout(signed(32), dim)))``
        Biases.  Must grant every request.
    maximum : ``Out(RowRead(slot, signed(32)))``
        Maxima of rows.  Must grant every request.
    start : ``Out(1)``
        A step starts.
    step : ``Out(LaneStep(config))``
        What it does.
    row : ``Out(ArrayLayout(signed(32), dim))``
        Its elements.
    """

    LATENCY = LOCAL_READ_LATENCY

    steps: stream.Interface
    hold: Annotated[Signal, In(1)]
    accumulator: Any
    scratchpad: Any
    parameters: Any
    maximum: Any
    start: Annotated[Signal, Out(1)]
    step: data.View
    row: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        narrow = data.ArrayLayout(unsigned(8), config.dim)
        wide = data.ArrayLayout(signed(32), config.dim)
        super().__init__({
            "steps": In(stream.Signature(TransformStep(config))),
            "accumulator": Out(RowRead(row_shape(config.accumulator_rows), wide)),
            "scratchpad": Out(RowRead(row_shape(config.scratchpad_rows), narrow)),
            "parameters": Out(RowRead(row_shape(config.parameter_rows), wide)),
            "maximum": Out(RowRead(row_shape(config.statistics_rows), signed(32))),
            "step": Out(LaneStep(config)),
            "row": Out(wide),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        step = self.steps.p
        wanted = self.steps.valid & ~self.hold
        m.d.comb += [
            self.accumulator.valid.eq(wanted & step.accumulator),
            self.accumulator.row.eq(step.row),
            self.scratchpad.valid.eq(wanted & step.scratchpad),
            self.scratchpad.row.eq(step.staged_row),
            self.parameters.valid.eq(wanted & step.lane.biased),
            self.parameters.row.eq(step.bias_row),
            self.maximum.valid.eq(wanted),
            self.maximum.row.eq(step.lane.span.slot),
            self.steps.ready.eq(
                wanted
                & (self.accumulator.ready | ~step.accumulator)
                & (self.scratchpad.ready | ~step.scratchpad)
            ),
        ]
        # Bit k: accepted k cycles ago.
        accepted = tapped_delay(m, self.steps.ready, self.LATENCY + 1, name="accepted")
        layout = data.StructLayout({"lane": LaneStep(self.config), "staged": 1, "pair": 1})
        travels = Signal(layout)
        m.d.comb += travels.as_value().eq(Cat(step.lane, step.staged, step.pair))
        for stage in range(self.LATENCY):
            register = Signal(layout, name=f"step_{stage + 1}", reset_less=True)
            with m.If(resting(platform, accepted[stage])):
                m.d.sync += register.eq(travels)
            travels = register
        m.d.comb += [self.start.eq(accepted[-1]), self.step.eq(travels.lane)]
        self._assemble(m, travels)
        return m

    def _assemble(self, m: Module, step: data.View) -> None:
        """The elements: int32 as they are, or int16 out of bytes."""
        dim = self.config.dim
        before = Signal.like(self.scratchpad.data.as_value(), reset_less=True)  # Of the last step.
        with m.If(self.start):
            m.d.sync += before.eq(self.scratchpad.data.as_value())
            now = self.scratchpad.data.as_value()
            pair = Cat(Mux(step.staged, now, before), now)
            for lane in range(dim):
                staged = pair.word_select(lane, STAGED_BITS).as_signed()
                chosen = Mux(step.staged | step.pair, staged, self.accumulator.data[lane])
                m.d.comb += self.row[lane].eq(chosen)
