"""What each class of command means as an operation: fields, rows, and the rules on its shape."""

from functools import reduce
from operator import or_

from amaranth import Const, Module, Mux
from amaranth.hdl import Value

from celosia.hw.decode.hulls import Span, blocks_of, rows_apart, rows_of_blocks, space_of
from celosia.hw.decode.ops import Space
from celosia.hw.gemmini.decode import (
    Leaving,
    Roles,
    Tile,
    copy_nothing,
    leave_by_window,
    repeat_pixels,
    too_many_rows,
    turn_roles,
)
from celosia.hw.lib.layouts import operands
from celosia.isa import encoding
from celosia.isa.address import (
    ACCUMULATE_BIT,
    ACCUMULATOR_BIT,
    FULL_BIT,
    GARBAGE,
    NORM_BITS,
    NORM_LOW,
    ROW_BITS,
)
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct, WeightType
from celosia.isa.registers.errors import Cause

__all__ = ["A_HULL", "COMPUTES", "decode_execute", "decode_load", "decode_store"]

COMPUTES = (Funct.COMPUTE_PRELOADED, Funct.COMPUTE_ACCUMULATED)
"""The commands that are products."""
A_HULL = 1
"""Which hull of a product is that of A; C comes first, W and D follow."""


def decode_load(
    m: Module, config: AcceleratorConfig, funct: Funct, command, state, op, hulls
) -> tuple[Value, Value]:
    """MVIN, MVIN2, MVIN3 and MVIN_PARAM; returns whether there is anything to do, and the cause."""
    m.d.sync += [
        op.wait.eq(state.wait),
        op.wait_token.eq(state.wait_token),
        op.wait_count.eq(state.wait_count),
    ]
    if funct is Funct.MVIN_PARAM:
        return _decode_parameters(m, config, command, op, hulls)
    index = next(n for n, load in enumerate(encoding.LOADS) if load.funct == funct)
    fields, settings = operands(encoding.LOADS[index], command), state[f"load_{index}"]
    accumulator = fields.local[ACCUMULATOR_BIT]
    wide = accumulator & ~settings.shrunk
    m.d.sync += [
        op.address.eq(fields.dram),
        op.stride.eq(settings.stride),
        op.rows.eq(fields.local_rows),
        op.cols.eq(fields.local_cols),
        op.space.eq(space_of(accumulator)),
        op.row.eq(fields.local),
        op.block_stride.eq(settings.block_stride),
        op.zero.eq(fields.dram == 0),
        op.accumulate.eq(fields.local[ACCUMULATE_BIT]),
        op.shrunk.eq(settings.shrunk),
        op.scale.eq(settings.scale),
        hulls[0].valid.eq(1),
        hulls[0].space.eq(space_of(accumulator)),
    ]
    some = (fields.local_rows != 0) & (fields.local_cols != 0)
    too_wide = _too_wide(config, fields.local_cols, wide)
    span = rows_of_blocks(
        config, fields.local, fields.local_rows, fields.local_cols, settings.block_stride
    )
    span, cause = repeat_pixels(m, config, fields, settings, op, span, too_wide)
    hulls[0].choose(command.funct == funct, span)
    return some, cause


def _decode_parameters(m: Module, config: AcceleratorConfig, command, op, hulls):
    fields = operands(encoding.MVIN_PARAM, command)
    m.d.sync += [
        op.address.eq(fields.dram),
        op.rows.eq(1),
        op.cols.eq(fields.count),
        op.space.eq(Space.PARAMETER),
        op.row.eq(fields.row),
        op.block_stride.eq(1),
        op.zero.eq(0),
        op.accumulate.eq(0),
        op.shrunk.eq(0),
        hulls[0].valid.eq(1),
        hulls[0].space.eq(Space.PARAMETER),
    ]
    hulls[0].choose(
        command.funct == Funct.MVIN_PARAM, Span(fields.row, blocks_of(config, fields.count))
    )
    copy_nothing(m, config, op)
    return fields.count != 0, Value.cast(Cause.NONE)


def decode_store(m: Module, config: AcceleratorConfig, command, state, op, hulls):
    """MVOUT; returns whether there is anything to do, the cause, and the cause of last resort."""
    fields = operands(encoding.MVOUT, command)
    accumulator = fields.local[ACCUMULATOR_BIT]
    full = accumulator & fields.local[FULL_BIT]
    int16 = accumulator & ~fields.local[FULL_BIT] & state.drain_int16
    own_stride = state.drain_block_stride
    block_stride = Mux(own_stride != 0, own_stride, config.dim)
    bias = accumulator & state.bias
    m.d.sync += [
        op.address.eq(fields.dram),
        op.stride.eq(state.store_stride),
        op.rows.eq(fields.local_rows),
        op.cols.eq(fields.local_cols),
        op.space.eq(space_of(accumulator)),
        op.row.eq(fields.local),
        op.block_stride.eq(block_stride),
        op.full.eq(full),
        op.int16.eq(int16),
        op.relu.eq(state.store_relu),
        op.scale.eq(state.store_scale),
        op.bias.eq(bias),
        op.bias_row.eq(state.bias_row),
        op.signal.eq(state.signal),
        op.signal_token.eq(state.signal_token),
        hulls[0].valid.eq(1),
        hulls[0].space.eq(space_of(accumulator)),
        hulls[1].valid.eq(bias),
        hulls[1].space.eq(Space.PARAMETER),
    ]
    chosen = command.funct == Funct.MVOUT
    hulls[1].choose(chosen, Span(state.bias_row, blocks_of(config, fields.local_cols)))
    plain = Leaving(
        some=(fields.local_rows != 0) & (fields.local_cols != 0),
        cause=_too_wide(config, fields.local_cols, full, int16),
        late=fields.local[NORM_LOW : NORM_LOW + NORM_BITS] != 0,
    )
    span = rows_of_blocks(config, fields.local, fields.local_rows, fields.local_cols, block_stride)
    span, (some, cause, late) = leave_by_window(m, config, fields, state, op, hulls[0], span, plain)
    hulls[0].choose(chosen, span)
    return some, cause, Mux(late, Value.cast(Cause.UNSUPPORTED), 0)


def decode_execute(m: Module, config: AcceleratorConfig, command, state, op, hulls) -> Value:
    """COMPUTE_PRELOADED and COMPUTE_ACCUMULATED; returns the cause."""
    dim = config.dim
    fields = operands(encoding.COMPUTE_PRELOADED, command)
    has_a, has_c = _names(fields.a), _names(state.c)
    plain = Roles(
        w=Tile(state.b, state.b_rows, state.b_cols, _names(state.b)),
        d=Tile(fields.d, fields.d_rows, fields.d_cols, _names(fields.d)),
        load_weights=command.funct == Funct.COMPUTE_PRELOADED,
        adds_d=Const(1),
        streams=Mux(has_c, state.c_rows, 0),
    )
    roles = turn_roles(m, config, state, op, plain, kept=plain.streams)
    w, d, load_weights = roles.w, roles.d, roles.load_weights
    has_w, has_d = load_weights & w.named, roles.adds_d & d.named
    a_lines = Mux(state.a_transpose, fields.a_cols, fields.a_rows)
    w_lines = _rows_of_weights(config, Mux(state.b_transpose, w.cols, w.rows), state)
    to_accumulator = state.c[ACCUMULATOR_BIT]
    m.d.sync += [
        op.load_weights.eq(load_weights),
        op.w_zero.eq(~has_w),
        op.w_row.eq(w.word),
        op.w_rows.eq(w.rows),
        op.w_cols.eq(w.cols),
        op.w_transpose.eq(state.b_transpose),
        op.w_int4.eq(state.b_type == WeightType.INT4),
        op.a_zero.eq(~has_a),
        op.a_row.eq(fields.a),
        op.a_rows.eq(fields.a_rows),
        op.a_cols.eq(fields.a_cols),
        op.a_stride.eq(state.a_stride),
        op.a_transpose.eq(state.a_transpose),
        op.a_unsigned.eq(state.a_unsigned),
        op.d_valid.eq(has_d),
        op.d_row.eq(d.word),
        op.d_rows.eq(d.rows),
        op.d_cols.eq(d.cols),
        op.c_row.eq(state.c),
        op.c_rows.eq(roles.streams),
        op.c_cols.eq(state.c_cols),
        op.c_stride.eq(state.c_stride),
        op.c_accumulator.eq(to_accumulator),
        op.accumulate.eq(state.c[ACCUMULATE_BIT]),
        op.relu.eq(state.execute_relu),
    ]
    chosen = reduce(or_, (command.funct == funct for funct in COMPUTES))
    for hull, named, word, lines, stride in (
        (hulls[0], has_c, state.c, state.c_rows, state.c_stride),
        (hulls[A_HULL], has_a, fields.a, a_lines, state.a_stride),
        (hulls[2], has_w, w.word, w_lines, None),
        (hulls[3], has_d, d.word, d.rows, None),
    ):
        m.d.sync += [
            hull.valid.eq(named & (lines != 0)),
            hull.space.eq(Space.SCRATCHPAD),
        ]
        span = Span(word[:ROW_BITS], lines)
        if stride is not None:
            span = rows_apart(word, lines, stride)
        hull.choose(chosen, span)
    with m.If(to_accumulator):
        m.d.sync += hulls[0].space.eq(Space.ACCUMULATOR)

    foreign = (
        (has_a & fields.a[ACCUMULATOR_BIT])
        | (has_w & w.word[ACCUMULATOR_BIT])
        | (has_d & d.word[ACCUMULATOR_BIT])
    )
    too_large = (
        (has_w & ((w.rows > dim) | (w.cols > dim)))
        | (has_a & ((fields.a_cols > dim) | (state.a_transpose & (fields.a_rows > dim))))
        | (has_d & (d.cols > dim))
        | (has_c & (state.c_cols > dim))
    )
    tiles = [(has_a, fields.a_rows), (has_d, d.rows), (has_c, state.c_rows)]
    too_large |= too_many_rows(config, state, tiles)
    shape = Mux(too_large, Value.cast(Cause.SHAPE), 0)
    return Mux(foreign, Value.cast(Cause.UNSUPPORTED), shape)


def _rows_of_weights(config: AcceleratorConfig, lines: Value, state) -> Value:
    """Scratchpad rows of so many lines of weights: at most half a tile's if they are int4."""
    most = WeightType.INT4.tile_rows(config.dim)
    reaches = lines[most.bit_length() - 1 :].any()  # Half a tile: it is a power of two.
    return Mux((state.b_type == WeightType.INT4) & reaches, most, lines)


def _names(word: Value) -> Value:
    """Whether `word` names rows, and is not garbage."""
    return (word | ((1 << NORM_BITS) - 1) << NORM_LOW) != GARBAGE


def _too_wide(
    config: AcceleratorConfig, cols: Value, wide: Value, int16: Value | None = None
) -> Value:
    limit: Value | int = config.max_blocks * config.dim
    if int16 is not None:
        limit = Mux(int16, config.blocks_of(2) * config.dim, limit)
    limit = Mux(wide, config.max_accumulator_blocks * config.dim, limit)
    return Mux(cols > limit, Value.cast(Cause.SHAPE), 0)
