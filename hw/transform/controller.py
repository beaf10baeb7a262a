"""Execution of TRANSFORM: one operation becomes the local rows that it reads, and steps."""

from typing import Annotated

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data, stream
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.ops import TAG_BITS, local_row_bits
from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.lib.component import Component
from celosia.hw.lib.float32 import EXPONENT_BIAS, FRACTION_BITS
from celosia.hw.memory.ports import row_shape
from celosia.hw.transform.traits import TraitSignals, trait_signals
from celosia.hw.transform.walk import Walk
from celosia.hw.vector.modes import Mode
from celosia.hw.vector.scaler import SCORE
from celosia.hw.vector.steps import LaneStep
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType

__all__ = ["Placement", "TransformController", "TransformStep"]


class Placement(data.StructLayout):
    """Where the result of a step goes: its word w into scratchpad row ``row + w * stride``."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "valid": 1,
            "kind": unsigned(2),  # The ElementType of its elements.
            "elements": range(config.dim + 1),
            "upper": 1,  # They go into the upper half of the row.
            "row": unsigned(local_row_bits(config)),
            "stride": unsigned(16),
        })


class TransformStep(data.StructLayout):
    """Local rows to read, what the lanes do with them, and where the results go."""

    def __init__(self, config: AcceleratorConfig):
        row = unsigned(local_row_bits(config))
        super().__init__({
            "accumulator": 1,  # Read `row` of the accumulator.
            "scratchpad": 1,  # Read `staged_row` of the scratchpad.
            "staged": 1,  # The lanes take the staged row, once in each half;
            "pair": 1,  # or the one before it and it; else the accumulator's.
            "row": row,
            "staged_row": row,
            "bias_row": row_shape(config.parameter_rows),
            "lane": LaneStep(config),
            "target": Placement(config),
            "target2": Placement(config),
            "last": 1,  # Of its operation.
            "function": TransformOp(config).members["function"],
            "tag": unsigned(TAG_BITS if config.zero_scale_bits else 0),  # If it can be at fault.
        })


_HANDED_ON = ("staged", "kind", "kind2", "shift", "shift2")
ONE = EXPONENT_BIAS << FRACTION_BITS
"""The bits of the scale 1."""


class TransformController(Component):
    """Walks the rows of a TRANSFORM, and in each row its blocks.

    Takes an operation (of at least one row and one column), then emits its steps, one per cycle
    while ``steps`` accepts: for each row a header, if the function refers to the row's maximum,
    then the blocks, two steps for each if there is a second operand, and four if rows are rotated.
    The first step is on offer in the cycle after the operation was taken, and the next operation is
    taken in the cycle in which the last step is accepted.

    Parameters
    ----------
    config : :class:`AcceleratorConfig`
        Supplies ``dim``, ``scale_bits`` and the sizes of the local memories.

    Members
    -------
    op : ``In(stream.Signature(TransformOp(config)))``
        Operations whose hazards have been resolved.
    steps : ``Out(stream.Signature(TransformStep(config)))``
        Steps, in order.
    begins : ``Out(1)``
        The step on offer is the first one of its operation.
    kept : ``Out(TransformOp(config))``
        That operation.  Its slot is that of the row of the step on offer.
    """

    op: stream.Interface
    steps: stream.Interface
    begins: Annotated[Signal, Out(1)]
    kept: data.View

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "op": In(stream.Signature(TransformOp(config))),
            "steps": Out(stream.Signature(TransformStep(config))),
            "kept": Out(TransformOp(config)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        op, ready = self.op.p, self.steps.ready
        active, taken = Signal(), Signal()
        walk = Walk(self.config)
        traits = trait_signals(m, op.function, when=taken)
        at = walk.at

        ends_block, ends_row, last = Signal(), Signal(), Signal()
        m.d.comb += [
            ends_block.eq(
                ~at.header & (~traits.paired | (at.second & (at.other | ~traits.rotates)))
            ),
            ends_row.eq(ends_block & at.final),
            last.eq(ends_row & (at.rows_left == 0)),
            self.steps.valid.eq(active),
            self.op.ready.eq(~active | (ready & last)),
            taken.eq(self.op.valid & self.op.ready),
        ]
        m.d.comb += [self.kept[name].eq(field) for name, field in vars(walk.kept).items()]
        m.d.comb += self.kept.slot.eq(at.slot)
        with m.If(self.op.ready):
            m.d.sync += active.eq(self.op.valid)
        with m.If(taken | ready):
            m.d.sync += self.begins.eq(taken)
        with m.If(taken):
            m.d.sync += Assert((op.rows != 0) & (op.cols != 0), "a transform of nothing")
            walk.take(m, op)
        with m.Elif(active & ready):
            m.d.sync += at.header.eq(0)
            with m.If(ends_row):
                walk.next_row(m, headed=traits.headed)
            with m.Elif(ends_block):
                walk.next_block(m)
            with m.Elif(~at.header):
                m.d.sync += [at.second.eq(~at.second), at.other.eq(at.other | at.second)]
        self._offer(m, walk, traits, ends_row, last)
        return m

    def _offer(
        self, m: Module, walk: Walk, traits: TraitSignals, ends_row: Signal, last: Signal
    ) -> None:
        """The step on offer."""
        at, kept, step = walk.at, walk.kept, self.steps.p
        pair = at.second & ~kept.staged
        source, factor = _staged_rows(walk, traits)
        residual = Mux(pair, at.residual + kept.residual_stride, factor)
        both = self.config.dim // 2  # Columns of a residual's first row.
        body = ~at.header
        elements = Mux(at.final, at.left, walk.width(kept))[: self.config.dim.bit_length()]
        m.d.comb += [
            step.accumulator.eq(body & ~kept.staged & ~at.second),
            step.scratchpad.eq(
                body & (kept.staged | (traits.paired & (~at.second | (at.left > both))))
            ),
            step.staged.eq(kept.staged),
            step.pair.eq(pair),
            step.row.eq(at.row),
            step.staged_row.eq(Mux(kept.staged & ~at.second, source, residual)),
            step.bias_row.eq(at.bias_row),
            step.last.eq(last),
            step.function.eq(kept.function),
            step.tag.eq(kept.tag),
        ]
        turn = ~traits.paired | (at.second & (at.other | ~traits.rotates))
        result = traits.result & body & turn
        for placement, valid, kind, row, stride in (
            (step.target, result, kept.kind, at.target, kept.target_stride),
            (step.target2, result & kept.two, kept.kind2, at.target2, kept.target2_stride),
        ):
            m.d.comb += [
                placement.valid.eq(valid),
                placement.kind.eq(kind),
                placement.elements.eq(elements),
                placement.upper.eq(kept.staged & (kind != ElementType.INT16) & at.upper),
                placement.row.eq(row),
                placement.stride.eq(stride),
            ]
        m.d.comb += step.lane.result.eq(result)
        self._lane(m, walk, traits, ends_row)

    def _lane(self, m: Module, walk: Walk, traits: TraitSignals, ends_row: Signal) -> None:
        """What the lanes do in the step on offer."""
        at, kept, lane = walk.at, walk.kept, self.steps.p.lane
        mode = Mux(at.second, Value.cast(traits.second), Value.cast(traits.mode))
        ends = Mux(at.behind, Mode.SUM, Mode.DIFFERENCE)
        mode = Mux(traits.rotates & at.second & at.other, ends, mode)
        mode = Mux(at.header, Mode.HEADER, mode)
        counted = (traits.counted & ~at.header) | (at.second & kept.moments & traits.moments)
        half = self.config.dim // 2  # Of staged elements, which are in both halves, one counts.
        visible = [
            walk.shows(index, traits.masked) & (~kept.staged if index >= half else 1)
            for index in range(self.config.dim)
        ]
        by_column = kept.column_scale & ~kept.staged & ~at.second & ~at.header
        # Scores that are int16 are scaled by 1: their headers need the scaler, and must not be
        # overtaken.
        scale = Mux(at.second, kept.scale2, kept.scale)
        wide = traits.masked & ~kept.staged & ~kept.stored
        m.d.comb += [
            Value.cast(lane.mode).eq(mode),
            lane.counted.eq(counted),
            lane.biased.eq(kept.bias & ~kept.staged & ~at.header & ~at.second),
            lane.last_part.eq(self._last_part(walk, traits)),
            lane.visible.eq(Cat(visible)),
            lane.span.first.eq(at.first),
            lane.span.last.eq(ends_row & (counted | traits.maximum)),
            lane.span.start.eq(kept.start),
            lane.span.finish.eq(kept.finish),
            lane.span.slot.eq(at.slot),
            lane.scaling.raw.eq(~traits.scaled),
            lane.scaling.kind.eq(Mux(wide, SCORE, ElementType.INT16)),
            lane.scaling.by_column.eq(by_column & traits.column_scaled),
            lane.scaling.scale.eq(Mux(traits.masked & kept.staged & ~at.header, ONE, scale)),
            lane.scaling2.raw.eq(~traits.rescaled | (kept.kind == ElementType.INT32)),
            lane.scaling2.kind.eq(kept.kind),
            lane.scaling2.relu.eq(kept.relu & traits.column_rescaled),
            lane.scaling2.zero_point.eq(kept.zero_point),
            lane.scaling2.by_column.eq(by_column & traits.column_rescaled),
            lane.scaling2.scale.eq(Mux(traits.column_rescaled, kept.scale, kept.scale2)),
            lane.gamma_row.eq(at.gamma_row),
        ]
        m.d.comb += [
            scaling.scale_row.eq(at.scale_row) for scaling in (lane.scaling, lane.scaling2)
        ]
        m.d.comb += [lane[name].eq(getattr(kept, name)) for name in _HANDED_ON]

    def _last_part(self, walk: Walk, traits: TraitSignals) -> Value:
        """The part of the row in which its last element is, or that of its second result."""
        at, kept = walk.at, walk.kept
        dim, lanes = self.config.dim, self.config.lanes
        bits = (dim - 1).bit_length()
        last = Mux(at.final, at.left[: bits + 1] - 1, walk.width(kept) - 1)[:bits]
        last = last | Mux(kept.staged & kept.two, dim // 2, 0)
        return Mux(at.header | traits.maximum, 0, last >> (lanes - 1).bit_length())


def _staged_rows(walk: Walk, traits: TraitSignals) -> tuple[Value, Value]:
    """The rows of the source and of the factor of staged functions.

    Where rows are rotated, a turn is of a block of the source and one of the factor.  In the
    first half of a row its own blocks come first, then those of the second half.  There, the
    block is turned by the cosines of the first half; then the first half's by its sines.
    """
    at, kept = walk.at, walk.kept
    there = traits.rotates & at.other
    source = at.row + Mux(at.behind, -kept.halfway, kept.halfway)
    factor = at.residual + Mux(at.behind, -kept.residual_halfway, kept.residual_halfway)
    moved = traits.rotates & (at.other ^ at.behind)
    return Mux(there, source, at.row)[: len(at.row)], Mux(moved, factor, at.residual)
