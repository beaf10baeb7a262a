"""Where a TRANSFORM is: its rows, and in each row its blocks."""

from dataclasses import dataclass

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import data

from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.lib.fields import typed_signals
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import ElementType
from celosia.isa.functions.table import FUNCTIONS

__all__ = ["Kept", "Position", "Walk"]

_HEADED = tuple(function for function, entry in FUNCTIONS.items() if entry.headed)
_WALKED = ("row", "target", "target2", "residual")
"""Local rows that go up by one with each row, and by strides with each block."""
_PARAMETERS = ("bias_row", "scale_row", "gamma_row")
"""Parameter rows: they go up with each block, and each row begins where the first one did."""


@dataclass(frozen=True)
class Kept:
    """The fields of a `TransformOp` that are not counted along.

    Steps are made from them, and whether the first one has to wait is found out of them.
    """

    function: Signal
    staged: Signal
    kind: Signal
    kind2: Signal
    two: Signal
    bias: Signal
    column_scale: Signal
    relu: Signal
    start: Signal
    finish: Signal
    moments: Signal
    stored: Signal
    zero_point: Signal
    scale: Signal
    scale2: Signal
    shift: Signal
    shift2: Signal
    rows: Signal
    cols: Signal
    row: Signal
    stride: Signal
    target: Signal
    target_stride: Signal
    target2: Signal
    target2_stride: Signal
    residual: Signal
    residual_stride: Signal
    halfway: Signal
    residual_halfway: Signal
    bias_row: Signal
    scale_row: Signal
    gamma_row: Signal
    visible: Signal
    causal: Signal
    diagonal: Signal
    window: Signal
    ring: Signal
    norm: Signal
    constants: Signal
    tag: Signal


@dataclass(frozen=True)
class Position:
    """Where the walk is: `row` and so on is of the block, `row_0` of the row."""

    rows_left: Signal
    """After this one."""
    left: Signal
    """Columns of this row, this block included."""
    final: Signal
    """All that is left fits into this block; found out a block ahead, as `behind` is, since what
    issues operations depends on them."""
    behind: Signal
    """This block is of the second half of the row."""
    visible: Signal
    """Columns from this block on that count."""
    diagonal: Signal
    """Columns of this row that a causal mask leaves."""
    passed: Signal
    """Columns from this block on that are before the window of this row."""
    again: Signal
    """Columns from this block on that are before those which a ring shows."""
    slot: Signal
    upper: Signal
    """The block is the second half of a row of bytes."""
    header: Signal
    second: Signal
    """The turn of the residual, or of the factor."""
    other: Signal
    """The second turn of both: a block of each half of the row has had one."""
    first: Signal
    """This block is the first of its row, headers excepted."""
    row: Signal
    row_0: Signal
    target: Signal
    target_0: Signal
    target2: Signal
    target2_0: Signal
    residual: Signal
    residual_0: Signal
    bias_row: Signal
    scale_row: Signal
    gamma_row: Signal


class Walk:
    """The registers of an operation, and of where it is.

    Attributes: `kept`, the operation; `at`, the block.
    """

    def __init__(self, config: AcceleratorConfig):
        self.config = config
        op = TransformOp(config).members
        rows = {f"{name}_0": op[name] for name in _WALKED}
        ones = ("final", "behind", "upper", "header", "second", "other", "first")
        counts = {"rows_left": op["rows"], "left": op["cols"]}
        self.kept = typed_signals(Kept, op, "kept_")
        edges = dict.fromkeys(("passed", "again"), op["diagonal"])
        members = {**op, **rows, **counts, **edges, **dict.fromkeys(ones, 1)}
        self.at = typed_signals(Position, members)

    def take(self, m: Module, op: data.View) -> None:
        """Keep `op`, and go to its first row."""
        m.d.sync += [register.eq(op[name]) for name, register in vars(self.kept).items()]
        self._begin(m, op)

    def width(self, op: data.View | Kept) -> Value:
        """Columns of a block of `op`."""
        return Mux(op.staged, self.config.dim // 2, self.config.dim)

    def shows(self, column: int, masked: Value) -> Value:
        """Whether a column of the block counts, which a mask may hide if rows are `masked`."""
        at, kept = self.at, self.kept
        there = at.left > column
        window = kept.causal & (kept.window != 0)
        seen = (at.visible > column) & ~(window & (at.passed > column))
        seen = seen | (window & (kept.ring != 0) & there & (at.again <= column))
        return Mux(masked, seen, there)

    def _begin(self, m: Module, op: data.View) -> None:
        """Go to the first row of an operation that is taken."""
        at = self.at
        m.d.sync += [at.rows_left.eq(op.rows - 1), at.slot.eq(op.slot)]
        self._see(m, op, op.diagonal)
        for name in _WALKED:
            m.d.sync += [getattr(at, name).eq(op[name]), getattr(at, f"{name}_0").eq(op[name])]
        self._begin_row(m, op)
        with m.Switch(op.function):
            for function in _HEADED:
                with m.Case(function):
                    m.d.sync += at.header.eq(1)

    def _begin_row(self, m: Module, op: data.View | Kept) -> None:
        at = self.at
        m.d.sync += [at.header.eq(0), at.second.eq(0), at.other.eq(0)]
        m.d.sync += [at.first.eq(1), at.upper.eq(0)]
        m.d.sync += [at.left.eq(op.cols), at.final.eq(op.cols <= self.width(op)), at.behind.eq(0)]
        m.d.sync += [getattr(at, name).eq(getattr(op, name)) for name in _PARAMETERS]

    def _see(self, m: Module, op: data.View | Kept, diagonal: Value) -> None:
        """Begin a row of which a causal mask leaves the columns before `diagonal`."""
        at, passed = self.at, diagonal - op.window
        m.d.sync += [
            at.diagonal.eq(diagonal),
            at.visible.eq(Mux(op.causal & (diagonal < op.visible), diagonal, op.visible)),
            at.passed.eq(passed),
            at.again.eq(passed + op.ring),
        ]

    def next_row(self, m: Module, *, headed: Signal) -> None:
        """Go to the row behind, which has a header if it is `headed`."""
        at, kept = self.at, self.kept
        self._see(m, kept, at.diagonal + 1)
        m.d.sync += [at.rows_left.eq(at.rows_left - 1), at.slot.eq(at.slot + 1)]
        for name in _WALKED:
            following = getattr(at, f"{name}_0") + 1
            m.d.sync += [getattr(at, name).eq(following), getattr(at, f"{name}_0").eq(following)]
        self._begin_row(m, kept)
        m.d.sync += at.header.eq(headed)

    def next_block(self, m: Module) -> None:
        """Go to the block behind, of the same row."""
        at, kept, width = self.at, self.kept, self.width(self.kept)
        m.d.sync += [
            at.second.eq(0),
            at.other.eq(0),
            at.first.eq(0),
            at.upper.eq(~at.upper),
            at.left.eq(at.left - width),
            at.final.eq(at.left <= width << 1),
            at.behind.eq(at.left <= (kept.cols >> 1) + width),
            *(edge.eq(edge - width) for edge in (at.visible, at.passed, at.again)),
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


def _log2_words(kind: Value) -> Value:
    """The base-2 logarithm of the local rows that ``dim`` elements of type `kind` take."""
    words: Value = Value.cast(0)
    for element, log2 in ((ElementType.INT16, 1), (ElementType.INT32, 2)):
        words = Mux(kind == element, log2, words)
    return words
