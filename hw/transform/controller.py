"""Execution of TRANSFORM: one operation becomes the local rows that it reads, and steps."""

from types import SimpleNamespace
from typing import Any

from amaranth import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.hdl import Assert
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.decode.ops import TAG_BITS, local_row_bits
from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.lib.fields import field_signals
from celosia.hw.lib.float32 import EXPONENT_BIAS, FRACTION_BITS
from celosia.hw.memory.ports import row_shape
from celosia.hw.transform.traits import trait_signals
from celosia.hw.vector.modes import Mode
from celosia.hw.vector.scaler import SCORE
from celosia.hw.vector.steps import LaneStep
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType
from celosia.isa.functions.table import FUNCTIONS

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
            "tag": unsigned(TAG_BITS if config.zero_scale_bits else 0),  # If it can be at fault.
        })


_HEADED = tuple(function for function, entry in FUNCTIONS.items() if entry.headed)
_WALKED = ("row", "target", "target2", "residual")
"""Local rows that go up by one with each row, and by strides with each block."""
_PARAMETERS = ("bias_row", "scale_row", "gamma_row")
"""Parameter rows: they go up with each block, and each row begins where the first one did."""
_NOT_KEPT = ("constants", "norm", "rows", "slot")
"""What is not for steps, or counted along."""
_HANDED_ON = ("kind", "kind2", "shift", "shift2")
ONE = EXPONENT_BIAS << FRACTION_BITS
"""The bits of the scale 1."""


class TransformController(wiring.Component):
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
    function : ``Out(4)``
        Function of the step on offer.
    """

    op: stream.Interface
    steps: stream.Interface
    function: Signal

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        super().__init__({
            "op": In(stream.Signature(TransformOp(config))),
            "steps": Out(stream.Signature(TransformStep(config))),
            "function": Out(TransformOp(config).members["function"]),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        op, ready = self.op.p, self.steps.ready
        active, taken = Signal(), Signal()
        kept = field_signals(self._kept_layout(), "kept")
        traits = trait_signals(m, op.function, when=taken)
        at = self._position()

        width = self._width(kept)
        ends_block, ends_row, last = Signal(), Signal(), Signal()
        m.d.comb += [
            ends_block.eq(
                ~at.header & (~traits.paired | (at.second & (at.other | ~traits.rotates)))
            ),
            ends_row.eq(ends_block & at.final),
            last.eq(ends_row & (at.rows_left == 0)),
            self.steps.valid.eq(active),
            self.function.eq(kept.function),
            self.op.ready.eq(~active | (ready & last)),
            taken.eq(self.op.valid & self.op.ready),
        ]
        with m.If(self.op.ready):
            m.d.sync += active.eq(self.op.valid)
        with m.If(taken):
            m.d.sync += Assert((op.rows != 0) & (op.cols != 0), "a transform of nothing")
            m.d.sync += [register.eq(op[name]) for name, register in vars(kept).items()]
            self._begin(m, at, op)
        with m.Elif(active & ready):
            m.d.sync += at.header.eq(0)
            with m.If(ends_row):
                self._next_row(m, at, kept, traits)
            with m.Elif(ends_block):
                self._next_block(m, at, kept, traits, width)
            with m.Elif(~at.header):
                m.d.sync += [at.second.eq(~at.second), at.other.eq(at.other | at.second)]
        self._offer(m, at, kept, traits, width, ends_row, last)
        return m

    def _kept_layout(self) -> data.StructLayout:
        """What steps are made from."""
        members = TransformOp(self.config).members
        return data.StructLayout({
            name: shape for name, shape in members.items() if name not in _NOT_KEPT
        })

    def _position(self) -> Any:
        """Registers of where the walk is: `row` and so on is of the block, `row_0` of the row."""
        op = TransformOp(self.config).members
        registers = {
            "rows_left": op["rows"],  # After this one.
            "left": op["cols"],  # Columns of this row, this block included.
            # Found out a block ahead, since what issues operations depends on them.
            "final": 1,  # All that is left fits into this block.
            "behind": 1,  # This block is of the second half of the row.
            "visible": op["visible"],  # Columns from this block on that count.
            "diagonal": op["diagonal"],  # Columns of this row that a causal mask leaves.
            "slot": op["slot"],
            "upper": 1,  # The block is the second half of a row of bytes.
            "header": 1,
            "second": 1,  # The turn of the residual, or of the factor.
            "other": 1,  # The second turn of both: a block of each half of the row has had one.
            "first": 1,  # Of the row, headers excepted.
        }
        for name in _WALKED:
            registers |= {name: op[name], f"{name}_0": op[name]}
        registers |= {name: op[name] for name in _PARAMETERS}
        return SimpleNamespace(**{
            name: Signal(shape, name=name, reset_less=True) for name, shape in registers.items()
        })

    def _width(self, op: Any) -> Value:
        """Columns of a block."""
        return Mux(op.staged, self.config.dim // 2, self.config.dim)

    def _begin(self, m: Module, at: Any, op: data.View) -> None:
        """Go to the first row of an operation that is taken."""
        m.d.sync += [at.rows_left.eq(op.rows - 1), at.slot.eq(op.slot)]
        m.d.sync += [at.diagonal.eq(op.diagonal), at.visible.eq(_visible(op, op.diagonal))]
        for name in _WALKED:
            m.d.sync += [getattr(at, name).eq(op[name]), getattr(at, f"{name}_0").eq(op[name])]
        self._begin_row(m, at, op)
        with m.Switch(op.function):
            for function in _HEADED:
                with m.Case(function):
                    m.d.sync += at.header.eq(1)

    def _begin_row(self, m: Module, at: Any, op: Any) -> None:
        m.d.sync += [at.header.eq(0), at.second.eq(0), at.other.eq(0)]
        m.d.sync += [at.first.eq(1), at.upper.eq(0)]
        m.d.sync += [at.left.eq(op.cols), at.final.eq(op.cols <= self._width(op)), at.behind.eq(0)]
        m.d.sync += [getattr(at, name).eq(getattr(op, name)) for name in _PARAMETERS]

    def _next_row(self, m: Module, at: Any, kept: Any, traits: Any) -> None:
        diagonal = at.diagonal + 1
        m.d.sync += [
            at.rows_left.eq(at.rows_left - 1),
            at.slot.eq(at.slot + 1),
            at.diagonal.eq(diagonal),
            at.visible.eq(_visible(kept, diagonal)),
        ]
        for name in _WALKED:
            following = getattr(at, f"{name}_0") + 1
            m.d.sync += [getattr(at, name).eq(following), getattr(at, f"{name}_0").eq(following)]
        self._begin_row(m, at, kept)
        m.d.sync += at.header.eq(traits.headed)

    def _next_block(self, m: Module, at: Any, kept: Any, traits: Any, width: Value) -> None:
        m.d.sync += [
            at.second.eq(0),
            at.other.eq(0),
            at.first.eq(0),
            at.upper.eq(~at.upper),
            at.left.eq(at.left - width),
            at.final.eq(at.left <= width << 1),
            at.behind.eq(at.left <= (kept.cols >> 1) + width),
            at.visible.eq(at.visible - width),
            at.row.eq(at.row + kept.stride),
            at.residual.eq(at.residual + (kept.residual_stride << ~kept.staged)),
            at.bias_row.eq(at.bias_row + 1),
            at.scale_row.eq(at.scale_row + 1),
            at.gamma_row.eq(at.gamma_row + 2),
        ]
        for target, stride, kind in (
            (at.target, kept.target_stride, kept.kind),
            (at.target2, kept.target2_stride, kept.kind2),
        ):
            # Half a block of bytes stays in its row until the other half is there.
            halves = kept.staged & (kind != ElementType.INT16)
            with m.If(~halves | at.upper):
                words = Mux(kept.staged, 0, _log2_words(kind))
                m.d.sync += target.eq(target + (stride << words))

    def _offer(self, m: Module, at: Any, kept: Any, traits: Any, width, ends_row, last) -> None:
        """The step on offer."""
        step = self.steps.p
        pair = at.second & ~kept.staged
        source, factor = self._staged_rows(at, kept, traits)
        residual = Mux(pair, at.residual + kept.residual_stride, factor)
        both = self.config.dim // 2  # Columns of a residual's first row.
        body = ~at.header
        elements = Mux(at.final, at.left, width)[: self.config.dim.bit_length()]
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
        self._lane(m, at, kept, traits, result, ends_row)

    def _staged_rows(self, at: Any, kept: Any, traits: Any) -> tuple[Value, Value]:
        """The rows of the source and of the factor of staged functions.

        Where rows are rotated, a turn is of a block of the source and one of the factor.  In the
        first half of a row its own blocks come first, then those of the second half.  There, the
        block is turned by the cosines of the first half; then the first half's by its sines.
        """
        there = traits.rotates & at.other
        source = at.row + Mux(at.behind, -kept.halfway, kept.halfway)
        factor = at.residual + Mux(at.behind, -kept.residual_halfway, kept.residual_halfway)
        moved = traits.rotates & (at.other ^ at.behind)
        return Mux(there, source, at.row)[: len(at.row)], Mux(moved, factor, at.residual)

    def _lane(self, m: Module, at: Any, kept: Any, traits: Any, result, ends_row) -> None:
        lane = self.steps.p.lane
        mode = Mux(at.second, Value.cast(traits.second), Value.cast(traits.mode))
        ends = Mux(at.behind, Mode.SUM, Mode.DIFFERENCE)
        mode = Mux(traits.rotates & at.second & at.other, ends, mode)
        mode = Mux(at.header, Mode.HEADER, mode)
        counted = (traits.counted & ~at.header) | (at.second & kept.moments & traits.moments)
        left = Mux(traits.masked, at.visible, at.left)
        half = self.config.dim // 2  # Of staged elements, which are in both halves, one counts.
        visible = [
            (left > index) & (~kept.staged if index >= half else 1)
            for index in range(self.config.dim)
        ]
        by_column = kept.column_scale & ~at.second & ~at.header
        # Scores that are int16 are scaled by 1: their headers need the scaler, and must not be
        # overtaken.
        scale = Mux(at.second, kept.scale2, kept.scale)
        wide = traits.masked & ~kept.staged & ~kept.stored
        m.d.comb += [
            Value.cast(lane.mode).eq(mode),
            lane.result.eq(result),
            lane.counted.eq(counted),
            lane.biased.eq(kept.bias & ~kept.staged & ~at.header & ~at.second),
            lane.last_part.eq(self._last_part(at, kept, traits)),
            lane.visible.eq(Cat(visible)),
            lane.span.first.eq(at.first),
            lane.span.last.eq(ends_row & (counted | traits.maximum)),
            lane.span.start.eq(kept.start),
            lane.span.finish.eq(kept.finish),
            lane.span.slot.eq(at.slot),
            lane.scaling.raw.eq(~traits.scaled),
            lane.scaling.kind.eq(Mux(wide, SCORE, ElementType.INT16)),
            lane.scaling.by_column.eq(by_column & traits.column_scaled),
            lane.scaling.scale.eq(Mux(traits.scaled & kept.staged & ~at.header, ONE, scale)),
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

    def _last_part(self, at: Any, kept: Any, traits: Any) -> Value:
        """The part of the row in which its last element is, or that of its second result."""
        dim, lanes = self.config.dim, self.config.lanes
        bits = (dim - 1).bit_length()
        last = Mux(at.final, at.left[: bits + 1] - 1, self._width(kept) - 1)[:bits]
        last = last | Mux(kept.staged & kept.two, dim // 2, 0)
        return Mux(at.header | traits.maximum, 0, last >> (lanes - 1).bit_length())


def _visible(op: Any, diagonal: Value) -> Value:
    """Columns of a row that count."""
    return Mux(op.causal & (diagonal < op.visible), diagonal, op.visible)


def _log2_words(kind: Value) -> Value:
    """The base-2 logarithm of the local rows that ``dim`` elements of type `kind` take."""
    words: Value = Value.cast(0)
    for element, log2 in ((ElementType.INT16, 1), (ElementType.INT32, 2)):
        words = Mux(kind == element, log2, words)
    return words
