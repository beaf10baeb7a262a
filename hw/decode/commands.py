"""What each class of command means as an operation: fields, rows, and the rules on its shape."""

from amaranth import Module, Mux, Signal
from amaranth.hdl import Value

from celosia.hw.decode.hulls import blocks_of, space_of
from celosia.hw.decode.layouts import operands
from celosia.hw.decode.ops import Space
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
from celosia.isa.bert import Activation
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Funct
from celosia.isa.registers.errors import Cause

__all__ = ["A_HULL", "decode_execute", "decode_load", "decode_store"]

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
    blocks = blocks_of(config, fields.local_cols)
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
        hulls[0].row.eq(fields.local[:ROW_BITS]),
        hulls[0].extent.eq(fields.local_rows - 1 + (blocks - 1) * settings.block_stride),
    ]
    some = (fields.local_rows != 0) & (fields.local_cols != 0)
    too_wide = _too_wide(config, blocks, wide)
    if config.convolution:
        too_wide = _decode_repeats(m, config, fields, settings, op, hulls[0], too_wide)
    return some, too_wide


def _decode_repeats(m: Module, config: AcceleratorConfig, fields, settings, op, hull, cause):
    """Copies of the rows below the first one; returns the cause."""
    repeats = Mux(settings.pixel_repeats == 0, 1, settings.pixel_repeats)
    copies = Signal(8)  # More than one row.
    row, half = fields.local[:ROW_BITS], config.scratchpad_rows // 2
    above = Mux(row >= half, row - half, row)[:ROW_BITS]  # Rows down to the floor.
    below = Mux(above < copies, above[: len(copies)], copies)
    m.d.comb += copies.eq(Mux(fields.local[ACCUMULATOR_BIT], 0, repeats - 1))
    m.d.sync += op.copies.eq(copies)
    with m.If(copies != 0):
        m.d.sync += [
            hull.row.eq(row - below),
            hull.extent.eq(fields.local_rows - 1 + below),
        ]
    too_wide = (copies != 0) & (fields.local_cols * (copies + 1) > config.dim)
    return Mux(too_wide, Value.cast(Cause.SHAPE), cause)


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
        *([op.copies.eq(0)] if config.convolution else []),
        hulls[0].valid.eq(1),
        hulls[0].space.eq(Space.PARAMETER),
        hulls[0].row.eq(fields.row),
        hulls[0].extent.eq(blocks_of(config, fields.count) - 1),
    ]
    return fields.count != 0, Value.cast(Cause.NONE)


def decode_store(m: Module, config: AcceleratorConfig, command, state, op, hulls):
    """MVOUT; returns whether there is anything to do, the cause, and the cause of last resort."""
    fields = operands(encoding.MVOUT, command)
    accumulator = fields.local[ACCUMULATOR_BIT]
    full = accumulator & fields.local[FULL_BIT]
    blocks = blocks_of(config, fields.local_cols)
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
        op.relu.eq(state.store_relu),
        op.scale.eq(state.store_scale),
        op.bias.eq(bias),
        op.bias_row.eq(state.bias_row),
        op.signal.eq(state.signal),
        op.signal_token.eq(state.signal_token),
        hulls[0].valid.eq(1),
        hulls[0].space.eq(space_of(accumulator)),
        hulls[0].row.eq(fields.local[:ROW_BITS]),
        hulls[0].extent.eq(fields.local_rows - 1 + (blocks - 1) * block_stride),
        hulls[1].valid.eq(bias),
        hulls[1].space.eq(Space.PARAMETER),
        hulls[1].row.eq(state.bias_row),
        hulls[1].extent.eq(blocks - 1),
    ]
    some = (fields.local_rows != 0) & (fields.local_cols != 0)
    too_wide = _too_wide(config, blocks, full)
    late = fields.local[NORM_LOW : NORM_LOW + NORM_BITS] != 0
    if config.bert:
        passes = _decode_passing(m, fields, state, op)
        late &= ~passes | (state.pools if config.convolution else 0)
    if config.convolution:
        m.d.sync += [op.pools.eq(state.pools), op.row_stride.eq(state.row_stride)]
        m.d.sync += [
            getattr(op.pooling, name).eq(state.pooling[name]) for name, _ in state.pooling.shape()
        ]
        with m.If(state.pools):
            pixels = state.pooling.image_rows * state.pooling.image_cols
            m.d.sync += [
                op.rows.eq(pixels),
                hulls[0].valid.eq(pixels != 0),
                hulls[0].extent.eq(pixels - 1),
            ]
        too_many = state.pools & (fields.local_cols > config.dim)
        too_wide = Mux(too_many, Value.cast(Cause.SHAPE), too_wide)
        pixels_leave = (state.pooling.rows != 0) & (state.pooling.cols != 0)
        some = (fields.local_cols != 0) & Mux(state.pools, pixels_leave, fields.local_rows != 0)
        late |= state.pools & full
    return some, too_wide, Mux(late, Value.cast(Cause.UNSUPPORTED), 0)


def _decode_passing(m: Module, fields, state, op) -> Value:
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


def decode_execute(m: Module, config: AcceleratorConfig, command, state, op, hulls) -> Value:
    """COMPUTE_PRELOADED and COMPUTE_ACCUMULATED; returns the cause."""
    dim = config.dim
    fields = operands(encoding.COMPUTE_PRELOADED, command)
    load_weights = command.funct == Funct.COMPUTE_PRELOADED
    staying = state.b, state.b_rows, state.b_cols
    streamed = fields.d, fields.d_rows, fields.d_cols
    w, w_rows, w_cols = staying
    d, d_rows, d_cols = streamed
    has_a, has_d, has_c = _names(fields.a), _names(d), _names(state.c)
    has_w = load_weights & _names(w)
    if config.output_stationary:
        # The sums stay: PRELOAD names D, and COMPUTE brings the weights.
        turned, preloaded = state.output_stationary, load_weights
        w, w_rows, w_cols = (Mux(turned, *pair) for pair in zip(streamed, staying, strict=True))
        d, d_rows, d_cols = (Mux(turned, *pair) for pair in zip(staying, streamed, strict=True))
        load_weights = preloaded | turned
        has_w, has_d = load_weights & _names(w), _names(d) & (preloaded | ~turned)
        _decode_resident(m, state, preloaded, has_c, op)
    a_lines = Mux(state.a_transpose, fields.a_cols, fields.a_rows)
    w_lines = Mux(state.b_transpose, w_cols, w_rows)
    to_accumulator = state.c[ACCUMULATOR_BIT]
    streams = Mux(has_c, state.c_rows, 0)
    if config.output_stationary:
        streams = Mux(state.output_stationary, dim, streams)
    m.d.sync += [
        op.load_weights.eq(load_weights),
        op.w_zero.eq(~has_w),
        op.w_row.eq(w),
        op.w_rows.eq(w_rows),
        op.w_cols.eq(w_cols),
        op.w_transpose.eq(state.b_transpose),
        op.a_zero.eq(~has_a),
        op.a_row.eq(fields.a),
        op.a_rows.eq(fields.a_rows),
        op.a_cols.eq(fields.a_cols),
        op.a_stride.eq(state.a_stride),
        op.a_transpose.eq(state.a_transpose),
        op.a_unsigned.eq(state.a_unsigned),
        op.d_valid.eq(has_d),
        op.d_row.eq(d),
        op.d_rows.eq(d_rows),
        op.d_cols.eq(d_cols),
        op.c_row.eq(state.c),
        op.c_rows.eq(streams),
        op.c_cols.eq(state.c_cols),
        op.c_stride.eq(state.c_stride),
        op.c_accumulator.eq(to_accumulator),
        op.accumulate.eq(state.c[ACCUMULATE_BIT]),
        op.relu.eq(state.execute_relu),
    ]
    for hull, named, word, lines, stride in (
        (hulls[0], has_c, state.c, state.c_rows, state.c_stride),
        (hulls[A_HULL], has_a, fields.a, a_lines, state.a_stride),
        (hulls[2], has_w, w, w_lines, None),
        (hulls[3], has_d, d, d_rows, None),
    ):
        extent = (lines - 1)[:16]
        m.d.sync += [
            hull.valid.eq(named & (lines != 0)),
            hull.space.eq(Space.SCRATCHPAD),
            hull.row.eq(word[:ROW_BITS]),
            hull.extent.eq(extent if stride is None else extent * stride),
        ]
    with m.If(to_accumulator):
        m.d.sync += hulls[0].space.eq(Space.ACCUMULATOR)

    foreign = (
        (has_a & fields.a[ACCUMULATOR_BIT])
        | (has_w & w[ACCUMULATOR_BIT])
        | (has_d & d[ACCUMULATOR_BIT])
    )
    too_large = (
        (has_w & ((w_rows > dim) | (w_cols > dim)))
        | (has_a & ((fields.a_cols > dim) | (state.a_transpose & (fields.a_rows > dim))))
        | (has_d & (d_cols > dim))
        | (has_c & (state.c_cols > dim))
    )
    if config.output_stationary:
        too_many = (
            (has_a & (fields.a_rows > dim))
            | (has_d & (d_rows > dim))
            | (has_c & (state.c_rows > dim))
        )
        too_large |= state.output_stationary & too_many
    shape = Mux(too_large, Value.cast(Cause.SHAPE), 0)
    return Mux(foreign, Value.cast(Cause.UNSUPPORTED), shape)


def _decode_resident(m: Module, state, preloaded, has_c, op) -> None:
    """What stays at the array, and which of its rows leave."""
    kept = Mux(has_c, state.c_rows, 0)
    m.d.sync += [
        op.resident.eq(state.output_stationary),
        op.start.eq(preloaded),
        op.kept.eq(kept),
        op.shift.eq(state.shift),
    ]


def _names(word: Value) -> Value:
    """Whether `word` names rows, and is not garbage."""
    return (word | ((1 << NORM_BITS) - 1) << NORM_LOW) != GARBAGE


def _too_wide(config: AcceleratorConfig, blocks: Value, wide: Value) -> Value:
    limit = Mux(wide, config.max_accumulator_blocks, config.max_blocks)
    return Mux(blocks > limit, Value.cast(Cause.SHAPE), 0)
