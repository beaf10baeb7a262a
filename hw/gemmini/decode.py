"""What commands mean beyond the core: pixel repeats, pooling, norms and the other dataflow."""

from typing import Any, NamedTuple

from amaranth import Const, Module, Mux, Signal
from amaranth.hdl import Value

from celosia.isa.address import ACCUMULATOR_BIT, FULL_BIT, NORM_BITS, NORM_LOW, ROW_BITS
from celosia.isa.bert import Activation
from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.errors import Cause

__all__ = [
    "Leaving",
    "Roles",
    "Tile",
    "copy_nothing",
    "leave_by_window",
    "repeat_pixels",
    "replaces_operand",
    "too_many_rows",
    "turn_roles",
]


def repeat_pixels(
    m: Module, config: AcceleratorConfig, fields, settings, op, span: Any, cause: Value
) -> tuple[Any, Value]:
    """Name the rows of a load's copies, which are below its first one; returns rows and cause."""
    if not config.convolution:
        return span, cause
    repeats = Mux(settings.pixel_repeats == 0, 1, settings.pixel_repeats)
    copies = Signal(8)  # More than one row.
    row, half = fields.local[:ROW_BITS], config.scratchpad_rows // 2
    above = Mux(row >= half, row - half, row)[:ROW_BITS]  # Rows down to the floor.
    below = Mux(above < copies, above[: len(copies)], copies)
    m.d.comb += copies.eq(Mux(fields.local[ACCUMULATOR_BIT], 0, repeats - 1))
    m.d.sync += op.copies.eq(copies)
    too_wide = (copies != 0) & (fields.local_cols * (copies + 1) > config.dim)
    apart = Mux(copies != 0, 0, span.stride)
    span = span._replace(
        row=(row - below)[:ROW_BITS], lines=fields.local_rows + below, stride=apart
    )
    return span, Mux(too_wide, Value.cast(Cause.SHAPE), cause)


def copy_nothing(m: Module, config: AcceleratorConfig, op) -> None:
    """Load each row once."""
    if config.convolution:
        m.d.sync += op.copies.eq(0)


class Leaving(NamedTuple):
    """What a store comes to."""

    some: Value
    """There is something to do."""
    cause: Value
    late: Value
    """It is unsupported, if no rule on its rows is broken."""


def leave_by_window(
    m: Module, config: AcceleratorConfig, fields, state, op, hull, span: Any, plain: Leaving
) -> tuple[Any, Leaving]:
    """Let the rows of a store pass norms and windows, as the state says; returns its rows, too."""
    some, cause, late = plain
    if config.bert:
        passes = _pass_norms(m, fields, state, op)
        late &= ~passes | (state.pools if config.convolution else 0)
    if config.convolution:
        some, cause, pools_full = _pool(m, config, fields, state, op, hull, some, cause)
        late |= pools_full
        pixels = _pixels(state)
        span = span._replace(
            lines=Mux(state.pools, pixels, span.lines), stride=Mux(state.pools, 0, span.stride)
        )
    return span, Leaving(some, cause, late)


def _pixels(state) -> Value:
    """Local rows that a store with a window names."""
    return state.pooling.image_rows * state.pooling.image_cols


def _pool(m: Module, config: AcceleratorConfig, fields, state, op, hull, some, cause):
    pooling, pools = state.pooling, state.pools
    m.d.sync += [op.pools.eq(pools), op.row_stride.eq(state.row_stride)]
    m.d.sync += [getattr(op.pooling, name).eq(pooling[name]) for name, _ in pooling.shape()]
    with m.If(pools):
        m.d.sync += [op.rows.eq(_pixels(state)), hull.valid.eq(_pixels(state) != 0)]
    cause = Mux(pools & (fields.local_cols > config.dim), Value.cast(Cause.SHAPE), cause)
    pixels_leave = (pooling.rows != 0) & (pooling.cols != 0) & (fields.local_cols != 0)
    wider = fields.local[ACCUMULATOR_BIT] & (fields.local[FULL_BIT] | state.drain_int16)
    return Mux(pools, pixels_leave, some), cause, pools & wider


def _pass_norms(m: Module, fields, state, op) -> Value:
    """I-GELU, LayerNorm and softmax; returns whether rows may have a norm command."""
    passes = fields.local[ACCUMULATOR_BIT] & ~fields.local[FULL_BIT]
    softmax = state.bert.softmax & (state.bert.activation == Activation.NONE)
    passing, constants = op.passing, op.passing.constants
    m.d.sync += [
        passing.passes.eq(passes),
        passing.command.eq(fields.local[NORM_LOW : NORM_LOW + NORM_BITS]),
        passing.activation.eq(Mux(softmax, Activation.SOFTMAX, state.bert.activation)),
        passing.statistics.eq(state.bert.statistics),
    ]
    m.d.sync += [
        getattr(constants, name).eq(state.bert.constants[name]) for name in vars(constants)
    ]
    return passes


class Tile(NamedTuple):
    """A tile that a command names."""

    word: Value
    rows: Value
    cols: Value
    named: Value
    """The address of the tile is not garbage."""


class Roles(NamedTuple):
    """The tiles of a product and what it does with them; see `turn_roles`."""

    w: Tile
    d: Tile
    load_weights: Value
    adds_d: Value
    """Whether D is added, if the product names one."""
    streams: Value
    """Rows that stream through the array."""


def turn_roles(m: Module, config: AcceleratorConfig, state, op, plain: Roles, kept: Value) -> Roles:
    """Let the sums stay where products are output-stationary; `kept` rows of them leave.

    Then PRELOAD names D, and COMPUTE brings the weights.
    """
    if not config.output_stationary:
        return plain
    turned, preloaded = state.output_stationary, plain.load_weights
    m.d.sync += [
        op.resident.eq(turned),
        op.start.eq(preloaded),
        op.kept.eq(kept),
        op.shift.eq(state.shift),
    ]
    return Roles(
        w=Tile(*(Mux(turned, *pair) for pair in zip(plain.d, plain.w, strict=True))),
        d=Tile(*(Mux(turned, *pair) for pair in zip(plain.w, plain.d, strict=True))),
        load_weights=preloaded | turned,
        adds_d=preloaded | ~turned,
        streams=Mux(turned, config.dim, plain.streams),
    )


def too_many_rows(config: AcceleratorConfig, state, tiles: list[tuple[Value, Value]]) -> Value:
    """Whether a tile of an output-stationary product, named with so many rows, is too large."""
    if not config.output_stationary:
        return Const(0)
    too_many: Any = Const(0)
    for named, rows in tiles:
        too_many |= named & (rows > config.dim)
    return state.output_stationary & too_many


def replaces_operand(config: AcceleratorConfig, product, result, operand, stride) -> Value:
    """Whether the rows of an output-stationary result are, one by one, those of an operand.

    The ranges `result` and `operand` are theirs, and `stride` is the rows from one row of the
    operand to the next.
    """
    if not config.output_stationary:
        return Const(0)
    same = (result.first == operand.first) & (product.c_stride == stride)
    return product.resident & same
