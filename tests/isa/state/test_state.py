"""What configuration commands leave behind: each field, what it keeps, and masks of its bits."""

from dataclasses import replace

import pytest

from celosia.isa.address import GARBAGE
from celosia.isa.bert import Activation
from celosia.isa.encoding import ONE
from celosia.isa.encoding.tokens import TokenWait
from celosia.isa.presets import PRESETS
from celosia.isa.state.state import ArchState, LoadState

TINY, BASE = PRESETS["tiny"], PRESETS["base"]
RESET = ArchState.reset(TINY)
EX = {
    "a_stride": 3,
    "c_stride": 5,
    "b_type": 0,
    "strides_only": 0,
    "weight_stationary": 1,
    "shift": 7,
    "activation": 1,
    "a_transpose": 1,
    "b_transpose": 1,
    "a_unsigned": 1,
}
LD = {"set": 1, "block_stride": 9, "stride": 100, "scale": 77, "shrunk": 1, "pixel_repeats": 4}
NO_POOLING = dict.fromkeys(
    (
        "pool_stride",
        "pool_size",
        "pool_top_pad",
        "pool_left_pad",
        "pool_pitch",
        "pool_rows",
        "pool_cols",
        "image_rows",
        "image_cols",
    ),
    0,
)
ST = {"stride": 12, "scale": 55, "activation": 1, **NO_POOLING}


def test_after_a_reset():
    assert [each.block_stride for each in RESET.loads] == [TINY.dim] * 3
    assert [each.stride for each in RESET.loads] == [0] * 3
    assert {each.scale for each in RESET.loads} == {RESET.store_scale} == {ONE} == {0x3F800000}
    assert (
        {each.pixel_repeats for each in RESET.loads} == {RESET.a_stride} == {RESET.c_stride} == {1}
    )
    assert (RESET.b, RESET.c, RESET.signal, RESET.wait, RESET.pooling) == (
        GARBAGE,
        GARBAGE,
        None,
        None,
        None,
    )
    assert not RESET.output_stationary


def test_products_are_configured():
    found = RESET.config_ex(EX)
    assert (found.a_stride, found.c_stride, found.shift) == (3, 5, 7)
    assert (found.execute_relu, found.a_transpose, found.b_transpose, found.a_unsigned) == (
        True,
        True,
        True,
        True,
    )
    assert not found.output_stationary
    assert RESET.config_ex({**EX, "weight_stationary": 0}).output_stationary
    for name in ("a_transpose", "b_transpose", "a_unsigned"):
        assert getattr(RESET.config_ex({**EX, name: 0}), name) is False
    assert (found.b_type, RESET.config_ex({**EX, "b_type": 1}).b_type) == (0, 1)
    for activation in (0, 2, 3):
        assert not RESET.config_ex({**EX, "activation": activation}).execute_relu
    only = found.config_ex({**dict.fromkeys(EX, 0), "strides_only": 1, "a_stride": 2})
    assert only == replace(found, a_stride=2, c_stride=0)


@pytest.mark.parametrize(("shift", "kept"), [(0, 0), (31, 31), (32, 0), (33, 1), (63, 31)])
def test_a_shift_has_five_bits(shift, kept):
    assert RESET.config_ex({**EX, "shift": shift}).shift == kept


@pytest.mark.parametrize(("given", "repeats"), [(0, 1), (1, 1), (2, 2), (255, 255)])
def test_pixels_are_repeated_once_at_least(given, repeats):
    found = RESET.config_ld({**LD, "pixel_repeats": given})
    assert found.loads[1].pixel_repeats == repeats


@pytest.mark.parametrize("number", [0, 1, 2])
def test_one_kind_of_load_is_configured(number):
    found = RESET.config_ld({**LD, "set": number})
    wanted = LoadState(block_stride=9, stride=100, scale=77, shrunk=True, pixel_repeats=4)
    assert found.loads[number] == wanted
    others = [each for place, each in enumerate(found.loads) if place != number]
    assert others == [RESET.loads[0]] * 2
    assert found.config_ld({**LD, "set": number, "shrunk": 0}).loads[number].shrunk is False


def test_stores_are_configured_and_a_scale_of_ones_keeps_the_other():
    found = RESET.config_st(ST)
    assert (found.store_stride, found.store_scale, found.store_relu) == (12, 55, True)
    kept = found.config_st({**ST, "scale": 0xFFFFFFFF, "stride": 4})
    assert (kept.store_scale, kept.store_stride) == (55, 4)
    assert found.config_st({**ST, "scale": 0xFFFFFFFE}).store_scale == 0xFFFFFFFE
    for number, activation in ((0, "NONE"), (2, "LAYERNORM"), (3, "IGELU")):
        other = RESET.config_st({**ST, "activation": number})
        assert (other.store_relu, other.store_activation) == (False, Activation[activation])


def test_a_store_that_is_configured_takes_no_softmax():
    bert = {
        "statistics": 2,
        "statistics_only": 0,
        "softmax": 1,
        "second_constant": 0,
        "constant": 7,
        "qb": 8,
        "qc": 9,
    }
    found = RESET.config_bert(bert)
    state = found.bert
    assert (state.statistics, state.softmax, state.qb, state.qc) == (2, True, 8, 9)
    assert (state.ln2, state.ln2_inverse) == (7, 0)
    second = found.config_bert({**bert, "second_constant": 1, "constant": 6}).bert
    assert (second.ln2, second.ln2_inverse) == (7, 6)
    only = found.config_bert({**dict.fromkeys(bert, 0), "statistics": 5, "statistics_only": 1})
    assert only.bert == replace(state, statistics=5)
    assert found.config_st(ST).bert == replace(state, softmax=False)


def test_windows_of_images():
    assert RESET.config_st({**ST, "pool_size": 3}).pooling is None
    values = {name: number for number, name in enumerate(NO_POOLING, 1)}
    found = RESET.config_st({**ST, **values}).pooling
    assert found is not None
    assert (found.stride, found.size, found.top, found.left) == (1, 2, 3, 4)
    assert (found.pitch, found.rows, found.cols) == (5, 6, 7)
    assert (found.image_rows, found.image_cols, found.pixels) == (8, 9, 72)


def test_drains_and_tokens():
    drain = {"bias": 1, "int16": 1, "bias_row": 6, "block_stride": 8}
    found = RESET.config_drain(drain)
    assert (found.bias, found.bias_row, found.drain_int16) == (True, 6, True)
    assert found.drain_block_stride == 8
    assert found.config_drain({**drain, "bias": 0}).bias is False
    assert found.config_drain({**drain, "int16": 0}).drain_int16 is False
    token = {"signal": 1, "signal_id": 0, "wait": 1, "wait_id": 3, "count": 4}
    found = RESET.config_token(token)
    assert (found.signal, found.wait) == (0, TokenWait(3, 4))
    without = found.config_token({**token, "signal": 0, "wait": 0})
    assert (without.signal, without.wait) == (None, None)


def test_a_preload_changes_its_own_operands_and_nothing_else():
    values = {"b": 1, "b_cols": 2, "b_rows": 3, "c": 4, "c_cols": 5, "c_rows": 6}
    found = RESET.preload(values)
    assert found == replace(RESET, **values)
    assert ArchState.reset(TINY) == RESET


def test_what_a_load_that_waits_is_told():
    text = TokenWait(3, 4000).describe(1234)
    assert text == "load waits for token 3: 1,234 of 4,000 stores have finished"
