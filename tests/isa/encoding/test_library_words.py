"""Words of Gemmini's own macros that a command library unrolls: programs in C write them.

Places of fields are those of the macros of `gemmini.h` and `gemmini_counter.h`
(https://github.com/ucb-bar/gemmini-rocc-tests).
"""

import pytest

from celosia.isa.encoding.gemmini_loops import LIBRARY_INSTRUCTIONS

ADDRESSES = {
    "loop_ws_addresses_ab": (10, "a", "b"),
    "loop_ws_addresses_dc": (11, "d", "c"),
    "loop_ws_strides_ab": (12, "a_stride", "b_stride"),
    "loop_ws_strides_dc": (13, "d_stride", "c_stride"),
    "loop_conv_5": (20, "weights", "output"),
    "loop_conv_6": (21, "bias", "input"),
}
"""Commands of two whole words: their functs and their words' names."""

WORDS = {
    "loop_ws_bounds": (9, "pad_i 0, pad_j 16, pad_k 32", "i 0, j 16, k 32"),
    "loop_ws": (
        8,
        "accumulate 0, full_c 1, low_d 2, activation 8, b_half 16, a_half 18",
        "a_transpose 0, b_transpose 1, residual 2, skip_a 3, skip_b 4, skip_d 5, "
        "skip_products 6, skip_c 7",
    ),
    "loop_conv_1": (
        16,
        "batch_size 0, in_rows 16, in_channels 32, out_channels 48",
        "out_rows 0, pool_out_rows 16, out_cols 32, stride 48, padding 56",
    ),
    "loop_conv_2": (
        17,
        "pool_padding 0, pool_stride 8, pool_size 16, pool_out_cols 32, kernel_dim 48",
        "pochs 0, pocols 16, porows 32, batches 48",
    ),
    "loop_conv_3": (
        18,
        "lpad 0, kchs 16, kcols 32, krows 48",
        "in_cols 0, plpad 16, dpad 24, upad 32, rpad 48",
    ),
    "loop_conv_4": (
        19,
        "kernel_dilation 0, pdpad 10, pupad 21, prpad 32, orows 48",
        "ocols 0, out_stride 16, weight_stride 32, in_stride 48",
    ),
    "loop_conv_ws": (
        15,
        "no_bias 0, rotate 1, trans_output_1203 2, trans_weight_1203 3, trans_weight_0132 4, "
        "trans_input_3120 5, depthwise 6, max_pixels 8, b_half 16, a_half 18",
        "no_pool 0, downsample 1, input_dilated 2, activation 3",
    ),
    "counter": (
        126,
        "reset 0, release 1, snapshot 2, configure 3, counter 4, event 12, external 31",
        "",
    ),
} | {name: (funct, f"{one} 0", f"{two} 0") for name, (funct, one, two) in ADDRESSES.items()}
"""The funct of each command, and the lowest bits of what its two words hold."""


def test_every_command_is_listed():
    assert {each.name for each in LIBRARY_INSTRUCTIONS} == set(WORDS)


@pytest.mark.parametrize("instruction", LIBRARY_INSTRUCTIONS, ids=lambda each: each.name)
def test_a_command_has_its_bits_where_the_macros_put_them(instruction):
    funct, *words = WORDS[instruction.name]
    for number, word in enumerate(words):
        for field in filter(None, word.split(", ")):
            name, low = field.split()
            set_bits = instruction.encode(**{name: 1})
            clear = instruction.encode(**{name: 0})
            assert set_bits.funct == clear.funct == funct
            changed = (set_bits.rs1 ^ clear.rs1, set_bits.rs2 ^ clear.rs2)
            assert changed[number] == 1 << int(low), name
            assert not changed[1 - number], name
    named = {field.split()[0] for word in words for field in filter(None, word.split(", "))}
    assert {field.name for field in instruction.operands} == named
