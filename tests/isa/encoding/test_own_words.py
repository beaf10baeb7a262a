"""Words of Celosia's own commands, bit by bit: programs in memory and hosts in C rely on them."""

import pytest

from celosia.isa.encoding.fields import FUNCT_BITS, ONE, WORD_BITS, float_bits, tile
from celosia.isa.encoding.gemmini import CONFIG_LD, CONFIG_ST
from celosia.isa.encoding.loops import CONFIG_PRODUCTS, PRODUCTS, REPEAT, STRIDE
from celosia.isa.encoding.own import CONFIG_DRAIN, CONFIG_TOKEN, FENCE, MVIN_PARAM
from celosia.isa.encoding.scales import SCALES
from celosia.isa.encoding.tokens import COUNT_BITS, COUNT_MASK, TOKENS, TokenWait
from celosia.isa.encoding.transform import CONFIG_TRANSFORM, TRANSFORM
from celosia.isa.encoding.weights import WeightType

WORDS = {
    FENCE: ({}, 32, 0, 0),
    MVIN_PARAM: ({"dram": 1, "row": 2, "count": 3}, 33, 1, 0x0000_0003_0000_0002),
    CONFIG_DRAIN: (
        {"bias": 1, "int16": 1, "bias_row": 0x1234, "block_stride": 0x5678},
        34,
        0x0000_5678_1234_0003,
        0,
    ),
    CONFIG_TOKEN: (
        {"signal": 1, "signal_id": 15, "wait": 1, "wait_id": 9, "count": 0xFFFF_FFFF},
        37,
        0x0000_0000_0091_00F1,
        0x0000_0000_FFFF_FFFF,
    ),
    CONFIG_PRODUCTS: (
        {"a_k": 1, "a_piece": 2, "w_k": 3, "w_piece": 4, "w_column": 5, "c_column": 6},
        38,
        0x0004_0003_0002_0001,
        0x0000_0000_0006_0005,
    ),
    PRODUCTS: (
        {
            "a": 1,
            "w": 2,
            "c": 3,
            "overwrite": 1,
            "rows": 4,
            "k": 5,
            "pieces": 6,
            "columns": 7,
            "last_depth": 8,
            "last_cols": 9,
        },
        39,
        0x0001_0003_0002_0001,
        0x0009_0807_0605_0004,
    ),
    REPEAT: ({"count": 1, "length": 2, "left_out": 3}, 40, 1, 0x0003_0002),
    STRIDE: (
        {
            "addend1": 0xFFFF_FFFF_FFFF,
            "wrap1_0": 1,
            "wrap1_1": 2,
            "wrap1_2": 3,
            "addend2": 4,
            "wrap2_0": 5,
            "wrap2_1": 6,
            "wrap2_2": 15,
        },
        41,
        0x0321_FFFF_FFFF_FFFF,
        0x0F65_0000_0000_0004,
    ),
}


@pytest.mark.parametrize("instruction", WORDS, ids=lambda each: each.name)
def test_a_command_has_its_bits_where_they_always_were(instruction):
    values, *words = WORDS[instruction]
    command = instruction.encode(**values)
    assert [command.funct, command.rs1, command.rs2] == words
    assert instruction.decode(command) == values


@pytest.mark.parametrize("instruction", WORDS, ids=lambda each: each.name)
def test_what_is_left_out_is_0(instruction):
    assert instruction.encode()[1:] == (0, 0)


def test_a_field_holds_its_largest_value_and_no_more():
    for instruction, name, most in (
        (CONFIG_TOKEN, "wait_id", 15),
        (CONFIG_TOKEN, "count", (1 << 32) - 1),
        (PRODUCTS, "k", 255),
        (STRIDE, "addend1", (1 << 48) - 1),
        (STRIDE, "wrap2_2", 15),
        (REPEAT, "count", (1 << 32) - 1),
        (MVIN_PARAM, "dram", (1 << 64) - 1),
    ):
        assert instruction.decode(instruction.encode(**{name: most}))[name] == most
        for value in (most + 1, -1):
            said = rf"{instruction.name}\.{name}: {value} is not in 0\.\.{most}"
            with pytest.raises(ValueError, match=said):
                instruction.encode(**{name: value})


def test_sizes_of_what_is_encoded():
    assert (FUNCT_BITS, WORD_BITS, ONE) == (7, 64, 0x3F80_0000)
    assert (TOKENS, COUNT_BITS, COUNT_MASK) == (16, 32, 0xFFFF_FFFF)
    assert (float_bits(-2.5), float_bits(0.1)) == (0xC020_0000, 0x3DCC_CCCD)
    where = [(each.register, each.name, each.low, each.bits) for each in tile("rs2", "c", "C")]
    assert where == [("rs2", "c", 0, 32), ("rs2", "c_cols", 32, 16), ("rs2", "c_rows", 48, 16)]


def test_a_waiting_load_says_how_many_stores_have_finished():
    told = TokenWait(3, 4000).describe(1000)
    assert told == "load waits for token 3: 1,000 of 4,000 stores have finished"


@pytest.mark.parametrize(("kind", "bits", "each", "rows"), [(0, 8, 1, 16), (1, 4, 2, 8)])
def test_weights_of_few_bits_share_bytes_and_rows(kind, bits, each, rows):
    weights = WeightType(kind)
    assert (weights.bits, weights.per_byte, weights.tile_rows(16)) == (bits, each, rows)


def test_all_scales_of_commands_are_known():
    """A command that has a float32 has it in the table."""
    assert {each.name: names for each, names in SCALES.items()} == {
        "config_ld": ("scale",),
        "config_st": ("scale",),
        "config_transform": ("scale", "scale2"),
    }
    assert {*SCALES} == {CONFIG_LD, CONFIG_ST, CONFIG_TRANSFORM}
    assert TRANSFORM not in SCALES
