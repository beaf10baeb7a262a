"""What TRANSFORM means as an operation: fields, rows, and the rules on its shape."""

from functools import reduce
from operator import or_
from typing import Any

from amaranth import Const, Module, Mux, Signal, signed
from amaranth.hdl import Value
from amaranth.lib import data

from celosia.hw.decode.hulls import Hull, Span, blocks_of, rows_of_blocks, space_of
from celosia.hw.decode.ops import Space
from celosia.hw.decode.transform_configuration import TransformFields
from celosia.hw.lib.layouts import operands
from celosia.isa import encoding
from celosia.isa.address import ACCUMULATOR_BIT
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import NO_KEY_LIMIT, ElementType, Funct
from celosia.isa.functions.table import FUNCTIONS
from celosia.isa.numerics import MAX_COLUMNS
from celosia.isa.numerics.float32 import INFINITY
from celosia.isa.registers.errors import Cause

__all__ = [
    "TRANSFORM_HULLS",
    "TRANSFORM_PARAMETERS",
    "TRANSFORM_WRITES",
    "TransformRules",
    "decode_transform",
    "find_halves",
    "log2_bytes",
    "transform_rules",
]

TRANSFORM_HULLS = 6
"""Ranges of rows that a TRANSFORM names, in this order: first and second result, source, residual,
bias (or gamma), scales."""
SOURCE_HULL, RESIDUAL_HULL = 2, 3
TRANSFORM_WRITES = 2
"""Ranges that a TRANSFORM writes, the first of its `TRANSFORM_HULLS`; it reads the rest."""
TRANSFORM_PARAMETERS = 2
"""Ranges, the last of `TRANSFORM_HULLS`, that the lanes read, long after the source."""

_FROM_FUNCTION = (
    "function",
    "bias",
    "column_scale",
    "relu",
    "start",
    "finish",
    "moments",
    "stored",
    "zero_point",
    "scale",
    "scale2",
)


def decode_transform(
    m: Module,
    config: AcceleratorConfig,
    command: data.View,
    state: TransformFields,
    rules: "TransformRules",
    op: Any,
    hulls: list[Hull],
) -> tuple[Value, Value]:
    """Fill `op` and `hulls`; returns whether there is anything to do, and the cause."""
    fields = operands(encoding.TRANSFORM, command)
    _fill(m, fields, state, rules, op)
    _name_rows(m, config, command, state, rules, hulls)
    some = (fields.local_rows != 0) & (fields.local_cols != 0)
    return some, _cause(config, fields, state, rules)


class TransformRules:
    """The entry in `FUNCTIONS` of the function that is configured, as signals."""

    def __init__(self) -> None:
        self.known = Signal()
        self.staged = Signal()
        self.statistics = Signal()
        self.scores = Signal()
        self.types = Signal(len(ElementType))
        self.residual = Signal()
        self.sums = Signal()
        self.two = Signal()
        self.rotates = Signal()


def transform_rules(m: Module, state: TransformFields, command: data.View) -> TransformRules:
    """The rules for the source that `command`, a TRANSFORM, names: accumulator or scratchpad."""
    accumulator = operands(encoding.TRANSFORM, command).local[ACCUMULATOR_BIT]
    rules = TransformRules()
    with m.Switch(state.transform.function):
        for function, known in FUNCTIONS.items():
            with m.Case(function):
                m.d.comb += [
                    rules.known.eq(1),
                    rules.staged.eq(~accumulator if known.takes_int16 else known.staged),
                    rules.statistics.eq(known.statistics),
                    rules.scores.eq(known.scores),
                    rules.rotates.eq(known.rotates),
                    rules.types.eq(sum(1 << kind for kind in known.types)),
                ]
                if known.paired:
                    m.d.comb += rules.residual.eq(1)
                if known.moments and not known.counted:
                    m.d.comb += [
                        rules.statistics.eq(state.transform.moments),
                        rules.sums.eq(state.transform.moments),
                    ]
                if known.moments and known.counted:
                    m.d.comb += rules.sums.eq(1)
                if known.normalizes:
                    m.d.comb += rules.two.eq(state.norm.two)
    return rules


def _fill(m: Module, fields, state, rules: TransformRules, op: Any) -> None:
    mask, cols = state.mask, fields.local_cols
    keys = Signal(signed(18), name="transform_keys")
    m.d.comb += keys.eq(mask.keys - mask.first_key)
    masked = (mask.keys != NO_KEY_LIMIT) & (keys < cols)
    m.d.sync += [getattr(op, name).eq(getattr(state.transform, name)) for name in _FROM_FUNCTION]
    m.d.sync += [
        op.kind.eq(state.transform.type),
        op.kind2.eq(state.norm.type2),
        op.staged.eq(rules.staged),
        op.two.eq(rules.two),
        op.slot.eq(state.transform.statistics),
        op.shift.eq(state.norm.shift),
        op.shift2.eq(state.norm.shift2),
        op.rows.eq(fields.local_rows),
        op.cols.eq(cols),
        op.row.eq(fields.local),
        op.stride.eq(state.rows.source_stride),
        op.target.eq(fields.target),
        op.target_stride.eq(state.rows.target_stride),
        op.target2.eq(fields.target2),
        op.target2_stride.eq(state.norm.target2_stride),
        op.residual.eq(state.rows.residual),
        op.residual_stride.eq(state.rows.residual_stride),
        op.bias_row.eq(state.rows.bias_row),
        op.scale_row.eq(state.rows.scale_row),
        op.gamma_row.eq(state.norm.parameter_row),
        op.visible.eq(Mux(masked, keys, cols)),
        op.causal.eq(mask.causal),
        op.diagonal.eq(mask.first_row - mask.first_key + 1),
        op.window.eq(mask.window),
        op.ring.eq(mask.ring),
        *(getattr(op.norm, name).eq(getattr(state.norm, name)) for name in vars(op.norm)),
    ]
    for constants, source in (
        (op.constants.exponent, state.exponent),
        (op.constants.gelu, state.gelu),
    ):
        for name, register in vars(constants).items():
            m.d.sync += register.eq(getattr(source, name))


def _name_rows(
    m: Module, config: AcceleratorConfig, command, state, rules: TransformRules, hulls: list[Hull]
) -> None:
    fields, function = operands(encoding.TRANSFORM, command), state.transform
    lines, cols = fields.local_rows, fields.local_cols

    def hull(index: int, valid, space, span: Span) -> None:
        m.d.sync += [hulls[index].valid.eq(valid), hulls[index].space.eq(space)]
        hulls[index].choose(command.funct == Funct.TRANSFORM, span)

    def blocks(row: Value, wide: Value | int, stride: Value) -> Span:
        return rows_of_blocks(config, row, lines, cols << wide, stride)

    sp, parameter, rows, norm = Space.SCRATCHPAD, Space.PARAMETER, state.rows, state.norm
    first = blocks(fields.target, log2_bytes(function.type), rows.target_stride)
    hull(0, rules.types != 0, sp, first)
    second = blocks(fields.target2, log2_bytes(norm.type2), norm.target2_stride)
    hull(1, rules.two, sp, second)
    space = space_of(fields.local[ACCUMULATOR_BIT])
    source = blocks(fields.local, rules.staged, rows.source_stride)
    hull(SOURCE_HULL, Const(1), space, source)
    factor = blocks(rows.residual, 1, rows.residual_stride)
    hull(RESIDUAL_HULL, rules.residual, sp, factor)
    named = (function.function == known for known, entry in FUNCTIONS.items() if entry.normalizes)
    normalizes: Value = reduce(or_, named)
    biased = ~rules.staged & function.bias
    row = Mux(normalizes, norm.parameter_row, rows.bias_row)
    whole, halves = blocks_of(config, cols), blocks_of(config, cols << 1)
    count = Mux(normalizes, halves << 1, whole)
    hull(4, normalizes | biased, parameter, Span(row, count))
    by_column = function.column_scale & ~rules.scores & ~rules.staged
    hull(5, by_column, parameter, Span(rows.scale_row, whole))


def find_halves(m: Module, op: Any, hulls: list[Hull], ranged: Any) -> None:
    """Say in `ranged`, which follows `op`, how far the second half of a row is from the first.

    That is half of as many blocks as rows of two halves have; a hull's product is of one less.
    """
    m.d.sync += [
        ranged.halfway.eq((hulls[SOURCE_HULL].product + op.stride) >> 1),
        ranged.residual_halfway.eq((hulls[RESIDUAL_HULL].product + op.residual_stride) >> 1),
    ]


def _cause(config: AcceleratorConfig, fields, state, rules: TransformRules) -> Value:
    """The first rule that is broken, of those that need no ranges."""
    function, types = state.transform, rules.types
    results = types != 0
    unsupported = (
        ~rules.known
        | (fields.local[ACCUMULATOR_BIT] == rules.staged)
        | (results & (fields.target[ACCUMULATOR_BIT] | ~types.bit_select(function.type, 1)))
        | (rules.residual & state.rows.residual[ACCUMULATOR_BIT])
        | (rules.two & fields.target2[ACCUMULATOR_BIT])
        | (rules.two & ~types.bit_select(state.norm.type2, 1))
    )
    scale = function.scale
    ordered = (scale != 0) & (scale < INFINITY) & ~function.column_scale
    channels = state.norm.channels
    shape = (fields.local_cols > MAX_COLUMNS) | (
        rules.sums & function.finish & ((channels == 0) | (channels > MAX_COLUMNS))
    )
    shape = shape | (rules.rotates & (fields.local_cols % config.dim != 0))
    beyond = rules.statistics & (function.statistics + fields.local_rows > config.statistics_rows)
    cause: Value = Const(0, 4)
    for broken, name in (
        (beyond, Cause.LOCAL_RANGE),
        (shape, Cause.SHAPE),
        (rules.scores & ~ordered, Cause.SCALE),
        (unsupported, Cause.UNSUPPORTED),
    ):
        cause = Mux(broken, Value.cast(name), cause)
    return cause


def log2_bytes(kind: Value) -> Value:
    """The base-2 logarithm of the size in bytes of an element of type `kind`."""
    return Mux(kind == ElementType.INT32, 2, kind == ElementType.INT16)
