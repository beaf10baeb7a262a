"""A case for each rule of configuration and moves in `docs/architecture.md`, on both sides."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.address import GARBAGE
from celosia.isa.bert import Activation
from celosia.isa.encoding import (
    CONFIG_BERT,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    CONFIG_TOKEN,
    CONFIG_TRANSFORM,
    FENCE,
    FLUSH,
    KEEP_SCALE,
    LOADS,
    MVIN,
    MVIN_PARAM,
    MVOUT,
    ONE,
    PRELOAD,
    Command,
    float_bits,
)
from celosia.isa.encoding.tokens import TokenWait
from celosia.isa.operations.operations import Load, LoadParameters, Store
from celosia.isa.operations.semantics import LOOP_FUNCTS, check, step
from celosia.isa.presets import resolve_config
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState, LoadState
from tests.support.semantics import (
    ACC,
    CONFIG,
    DIM,
    PARAMETER,
    RESET,
    SPAD,
    acc,
    after,
    cause_of,
    spad,
)


def config_ld(number: int = 0, **values: int) -> Command:
    return CONFIG_LD.encode(**({"set": number, "block_stride": DIM} | values))


def move(instruction, local: int, rows: int, cols: int) -> Command:
    return instruction.encode(dram=1, local=local, local_rows=rows, local_cols=cols)


def test_the_configuration_has_the_sizes_that_the_tests_name():
    assert (SPAD, ACC, PARAMETER) == (256, 64, 8)
    assert (CONFIG.max_blocks, CONFIG.max_accumulator_blocks) == (16, 4)


def test_the_state_after_reset():
    one = float_bits(1.0)
    assert RESET.loads == (LoadState(block_stride=DIM, stride=0, scale=one, shrunk=False),) * 3
    assert (RESET.a_stride, RESET.c_stride) == (1, 1)
    assert (RESET.store_stride, RESET.store_scale) == (0, one)
    assert (RESET.b, RESET.c) == (GARBAGE, GARBAGE)
    rest = (RESET.execute_relu, RESET.a_transpose, RESET.b_transpose, RESET.a_unsigned)
    assert not any((*rest, RESET.store_relu, RESET.bias, RESET.bias_row, RESET.drain_block_stride))


@pytest.mark.parametrize("funct", [8, 13, 15, 31, 35, 63, 64, 126, 127])
def test_an_unknown_funct(funct):
    assert cause_of(Command(funct)) is Cause.UNKNOWN_FUNCT


@pytest.mark.parametrize("funct", LOOP_FUNCTS)
def test_what_is_left_of_loops_is_at_fault(funct):
    assert cause_of(Command(funct)) is Cause.LOOP
    without = resolve_config("tiny", ["loop_entries=0"])
    assert check(Command(funct), ArchState.reset(without), without) is Cause.UNKNOWN_FUNCT


@pytest.mark.parametrize(
    ("command", "legal"),
    [
        (Command(0, 3), False),  # CONFIG_NORM
        (CONFIG_EX.encode(), True),
        (CONFIG_EX.encode(weight_stationary=0), False),
        (CONFIG_EX.encode(weight_stationary=0, strides_only=1), True),
        (CONFIG_EX.encode(a_transpose=1), True),
        (CONFIG_EX.encode(b_transpose=1), True),
        (CONFIG_EX.encode(a_transpose=1, b_transpose=1), False),
        (CONFIG_EX.encode(a_transpose=1, b_transpose=1, strides_only=1), True),
        (CONFIG_EX.encode(activation=3, shift=5), True),
        (config_ld(2), True),
        (config_ld(3), False),
        (config_ld(pixel_repeats=0), True),
        (config_ld(pixel_repeats=1), True),
        (config_ld(pixel_repeats=2), False),
        (CONFIG_ST.encode(activation=1), True),
        (CONFIG_ST.encode(activation=2), False),
        (CONFIG_ST.encode(activation=3), False),
        (CONFIG_ST.encode(pool_stride=1), False),
        (CONFIG_ST.encode(pool_size=3), True),
        (CONFIG_DRAIN.encode(bias=1, bias_row=0xFFFF, block_stride=0xFFFF), True),
        (CONFIG_DRAIN.encode(int16=1), False),
        (PRELOAD.encode(b=acc(99), b_cols=99, c=spad(SPAD), c_rows=9), True),
        (FLUSH.encode(skip=1), True),
        (FENCE.encode(), True),
    ],
)
def test_forms_of_configuration(command, legal):
    assert cause_of(command) is (Cause.NONE if legal else Cause.UNSUPPORTED)


def test_an_illegal_command_changes_nothing():
    command = CONFIG_LD.encode(set=3, stride=77)
    assert step(command, RESET, CONFIG).state == RESET


@pytest.mark.parametrize("number", [0, 1, 2])
def test_each_mvin_has_its_own_set(number):
    state = after(config_ld(number, stride=5, shrunk=1))
    for other, instruction in enumerate(LOADS):
        operation = step(move(instruction, acc(0), 1, 1), state, CONFIG).operation
        assert isinstance(operation, Load)
        assert (operation.stride, operation.shrunk) == (
            (5, True) if other == number else (0, False)
        )


@pytest.mark.parametrize(
    ("local", "shrunk", "limit"), [(spad(0), 0, 64), (acc(0), 1, 64), (acc(0), 0, 16)]
)
def test_columns_of_a_load(local, shrunk, limit):
    set_up = config_ld(shrunk=shrunk)
    assert cause_of(set_up, move(MVIN, local, 1, limit)) is Cause.NONE
    assert cause_of(set_up, move(MVIN, local, 1, limit + 1)) is Cause.SHAPE


@pytest.mark.parametrize(
    ("stride", "rows", "cols", "span"),
    [(0, 1, 1, 1), (4, 3, 4, 3), (4, 3, 5, 7), (4, 3, 16, 15), (0, 3, 16, 3), (1, 2, 9, 4)],
)
@pytest.mark.parametrize("memory", [spad, acc])
def test_every_row_of_a_load_exists(memory, stride, rows, cols, span):
    size = SPAD if memory is spad else ACC
    set_up = config_ld(block_stride=stride)
    assert cause_of(set_up, move(MVIN, memory(size - span), rows, cols)) is Cause.NONE
    assert cause_of(set_up, move(MVIN, memory(size - span + 1), rows, cols)) is Cause.LOCAL_RANGE


@pytest.mark.parametrize(("rows", "cols"), [(0, 1), (1, 0), (0, 0), (0, 999)])
@pytest.mark.parametrize("instruction", [*LOADS, MVOUT])
def test_moving_nothing_is_always_legal(instruction, rows, cols):
    done = step(move(instruction, acc(0x3FF_FFFF, norm=3), rows, cols), RESET, CONFIG)
    assert done.cause is Cause.NONE
    assert done.operation is None


@pytest.mark.parametrize("instruction", [MVIN, MVOUT])
def test_moves_know_no_garbage(instruction):
    assert cause_of(move(instruction, GARBAGE, 1, 1)) is Cause.LOCAL_RANGE


def test_shape_is_checked_before_range():
    assert cause_of(move(MVIN, spad(SPAD), 1, 65)) is Cause.SHAPE
    assert cause_of(move(MVOUT, spad(SPAD), 1, 65)) is Cause.SHAPE


@pytest.mark.parametrize(
    ("row", "count", "legal"),
    [(7, 4, True), (7, 5, False), (0, 32, True), (0, 33, False), (8, 1, False)],
)
def test_parameter_rows_exist(row, count, legal):
    done = step(MVIN_PARAM.encode(row=row, count=count), RESET, CONFIG)
    assert done.cause is (Cause.NONE if legal else Cause.LOCAL_RANGE)
    assert isinstance(done.operation, LoadParameters) == legal


def test_loading_no_parameters_is_always_legal():
    done = step(MVIN_PARAM.encode(row=999, count=0), RESET, CONFIG)
    assert (done.cause, done.operation) == (Cause.NONE, None)


@pytest.mark.parametrize(
    ("local", "limit"),
    [(spad(0), 64), (spad(0) | 1 << 29, 64), (acc(0), 64), (acc(0, full=True), 16)],
)
def test_columns_of_a_store(local, limit):
    assert cause_of(move(MVOUT, local, 1, limit)) is Cause.NONE
    assert cause_of(move(MVOUT, local, 1, limit + 1)) is Cause.SHAPE


INT16 = CONFIG.with_values({"normalization": True})
"""With a unit that makes use of them, MVOUT stores int16."""


@pytest.mark.parametrize(
    ("local", "limit", "int16"),
    [(spad(0), 64, False), (acc(0), 32, True), (acc(0, full=True), 16, False)],
)
def test_rows_of_int16_span_half_as_many_blocks(local, limit, int16):
    state = after(CONFIG_DRAIN.encode(int16=1, block_stride=1), config=INT16)
    done = step(move(MVOUT, local, 1, limit), state, INT16)
    assert done.cause is Cause.NONE
    assert isinstance(done.operation, Store)
    assert done.operation.int16 is int16
    assert check(move(MVOUT, local, 1, limit + 1), state, INT16) is Cause.SHAPE


@pytest.mark.parametrize("values", [{"bert": True}, {"normalization": False}])
def test_int16_are_not_stored_without_the_unit_or_beside_gemminis_norms(values):
    config = INT16.with_values(values)
    assert check(CONFIG_DRAIN.encode(int16=1), ArchState.reset(config), config) is Cause.UNSUPPORTED
    assert check(CONFIG_DRAIN.encode(), ArchState.reset(config), config) is Cause.NONE


def test_windows_of_int16_are_not_supported():
    config = INT16.with_values({"convolution": True})
    window = CONFIG_ST.encode(
        pool_stride=1, pool_size=1, pool_rows=1, pool_cols=1, image_rows=1, image_cols=1
    )
    for int16, cause in ((0, Cause.NONE), (1, Cause.UNSUPPORTED)):
        state = after(window, CONFIG_DRAIN.encode(int16=int16), config=config)
        assert check(move(MVOUT, acc(0), 1, 4), state, config) is cause
        assert check(move(MVOUT, spad(0), 1, 4), state, config) is Cause.NONE


@pytest.mark.parametrize(
    ("memory", "stride", "span"),
    [(spad, 0, 7), (spad, 9, 12), (acc, 0, 7), (acc, 9, 12), (acc, 1, 4)],
)
def test_every_row_of_a_store_exists(memory, stride, span):
    size = SPAD if memory is spad else ACC
    set_up = CONFIG_DRAIN.encode(block_stride=stride)
    assert cause_of(set_up, move(MVOUT, memory(size - span), 3, 5)) is Cause.NONE
    assert cause_of(set_up, move(MVOUT, memory(size - span + 1), 3, 5)) is Cause.LOCAL_RANGE


@pytest.mark.parametrize("full", [False, True])
def test_the_bias_rows_of_a_store_exist(full):
    store = move(MVOUT, acc(0, full=full), 1, 5)
    assert cause_of(CONFIG_DRAIN.encode(bias=1, bias_row=6), store) is Cause.NONE
    assert cause_of(CONFIG_DRAIN.encode(bias=1, bias_row=7), store) is Cause.LOCAL_RANGE
    assert cause_of(CONFIG_DRAIN.encode(bias=0, bias_row=7), store) is Cause.NONE
    assert (
        cause_of(CONFIG_DRAIN.encode(bias=1, bias_row=7), move(MVOUT, spad(0), 1, 5)) is Cause.NONE
    )


def test_normalization_commands_are_not_built_in():
    assert cause_of(move(MVOUT, acc(0, norm=1), 1, 1)) is Cause.UNSUPPORTED
    assert cause_of(move(MVOUT, acc(ACC, norm=1), 1, 1)) is Cause.LOCAL_RANGE


def test_all_ones_keep_the_scale_of_stores():
    state = after(CONFIG_ST.encode(scale=7), CONFIG_ST.encode(stride=9, scale=KEEP_SCALE))
    operation = step(move(MVOUT, acc(0), 1, 1), state, CONFIG).operation
    assert isinstance(operation, Store)
    assert (operation.scale, operation.stride) == (7, 9)


@pytest.mark.parametrize("bits", [8, 23, 24])
@pytest.mark.parametrize(
    ("form", "name"),
    [
        (CONFIG_LD, "scale"),
        (CONFIG_ST, "scale"),
        (CONFIG_TRANSFORM, "scale"),
        (CONFIG_TRANSFORM, "scale2"),
    ],
    ids=["load", "store", "transform", "transform2"],
)
def test_a_scale_has_as_many_bits_as_the_configuration_says(form, name, bits):
    """Both ends of what is dropped count; of CONFIG_ST, the word that keeps the scale does not."""
    config = replace(CONFIG, normalization=True, scale_bits=bits)
    reset, dropped = ArchState.reset(config), 24 - bits
    broken = {ONE | 1, ONE | 1 << dropped - 1, KEEP_SCALE ^ 1 << 31} if dropped else set()
    if form is not CONFIG_ST and dropped:
        broken.add(KEEP_SCALE)
    for scale in {ONE, ONE | 1 << dropped, 0, 0xFF << 23, KEEP_SCALE, *broken}:
        done = step(form.encode(**{name: scale}), reset, config)
        assert done.cause is (Cause.SCALE if scale in broken else Cause.NONE), hex(scale)
        assert scale not in broken or done.state == reset


def test_strides_alone_leave_the_rest_of_config_ex():
    first = {"a_stride": 2, "c_stride": 3, "activation": 1, "a_transpose": 1, "a_unsigned": 1}
    before = after(CONFIG_EX.encode(shift=5, **first))
    state = after(
        CONFIG_EX.encode(shift=5, **first),
        CONFIG_EX.encode(strides_only=1, a_stride=7, c_stride=9, b_transpose=1, shift=6),
    )
    assert state == replace(before, a_stride=7, c_stride=9)


def test_softmax_lasts_until_the_next_config_st():
    config = resolve_config("gemmini4", [])
    state = ArchState.reset(config)
    activations = []
    for command in (CONFIG_BERT.encode(softmax=1), CONFIG_ST.encode(stride=1)):
        state = step(command, state, config).state
        operation = step(move(MVOUT, acc(0), 1, 1), state, config).operation
        assert isinstance(operation, Store)
        assert operation.passing
        activations.append(operation.passing.activation)
    assert activations == [Activation.SOFTMAX, Activation.NONE]


@given(
    funct=st.integers(0, 127),
    rs1=st.integers(0, (1 << 64) - 1),
    rs2=st.integers(0, (1 << 64) - 1),
    previous=st.integers(0, (1 << 64) - 1),
)
def test_every_word_has_a_verdict(funct, rs1, rs2, previous):
    state = step(Command(6, previous, rs2), RESET, CONFIG).state
    state = step(Command(0, previous & ~3 | 4), state, CONFIG).state
    command = Command(funct, rs1, rs2)
    done = step(command, state, CONFIG)
    assert done.cause is check(command, state, CONFIG)
    if done.cause:
        assert done.state == state
        assert done.operation is None


def test_tokens_are_what_was_set_last():
    """Both halves of CONFIG_TOKEN are set at once: what it does not name ends."""
    assert (RESET.signal, RESET.wait) == (None, None)
    signal = after(CONFIG_TOKEN.encode(signal=1, signal_id=3, wait_id=4, count=9))
    assert (signal.signal, signal.wait) == (3, None)
    both = {"signal": 1, "signal_id": 0, "wait": 1, "wait_id": 5, "count": 7}
    state = after(CONFIG_TOKEN.encode(**both))
    assert (state.signal, state.wait) == (0, TokenWait(5, 7))
    assert after(CONFIG_TOKEN.encode(**both), CONFIG_TOKEN.encode()) == RESET
    moves = [move(MVIN, spad(0), 1, 1), MVIN_PARAM.encode(dram=1, row=0, count=1)]
    for command in moves:
        load = step(command, state, CONFIG).operation
        assert isinstance(load, Load | LoadParameters)
        assert load.wait == TokenWait(5, 7)
    store = step(move(MVOUT, spad(0), 1, 1), state, CONFIG).operation
    assert isinstance(store, Store)
    assert store.signal == 0
