"""Gemmini's commands that a command library turns into others, or answers itself.

They reach no decoder: LOOP_WS (which `loop_ws` builds into the accelerator, too) and LOOP_CONV_WS
stand for the commands of a whole tile of a product or convolution, and COUNTER is the only command
with a result (`sim/c_host`).
"""

from enum import IntEnum
from itertools import accumulate
from typing import Final

from celosia.isa.encoding.fields import Field, Instruction, Kind, rs1, rs2

__all__ = [
    "LIBRARY_INSTRUCTIONS",
    "LOOP_CONV_CONFIGS",
    "LOOP_WS",
    "LOOP_WS_CONFIGS",
    "LibraryFunct",
]


class LibraryFunct(IntEnum):
    """The first part of these commands."""

    LOOP_WS = 8
    LOOP_WS_CONFIG_BOUNDS = 9
    LOOP_WS_CONFIG_ADDRS_AB = 10
    LOOP_WS_CONFIG_ADDRS_DC = 11
    LOOP_WS_CONFIG_STRIDES_AB = 12
    LOOP_WS_CONFIG_STRIDES_DC = 13
    LOOP_CONV_WS = 15
    LOOP_CONV_WS_CONFIG_1 = 16
    LOOP_CONV_WS_CONFIG_2 = 17
    LOOP_CONV_WS_CONFIG_3 = 18
    LOOP_CONV_WS_CONFIG_4 = 19
    LOOP_CONV_WS_CONFIG_5 = 20
    LOOP_CONV_WS_CONFIG_6 = 21
    COUNTER = 126


def _address(make, name: str, doc: str) -> Field:
    return make(name, 0, 64, doc, Kind.DRAM)


def _flag(make, name: str, low: int, doc: str) -> Field:
    return make(name, low, 1, doc, Kind.FLAG)


def _word(make, *parts: tuple[str, int, str]) -> tuple[Field, ...]:
    """Fields one behind the other from bit 0 on: names, bits and what they are."""
    lows = accumulate((bits for _, bits, _ in parts), initial=0)  # And the end of the last one.
    named = zip(lows, parts, strict=False)
    return tuple(make(name, low, bits, doc) for low, (name, bits, doc) in named)


def _halves(a: str, b: str) -> tuple[Field, ...]:
    """What a run says about the scratchpad."""
    return (
        rs1("b_half", 16, 2, f"Half of the scratchpad for {b}: 1, 2, or 0 for the other one."),
        rs1("a_half", 18, 2, f"Half of the scratchpad for {a}."),
    )


LOOP_WS_CONFIGS: Final = (
    Instruction(
        "loop_ws_bounds",
        LibraryFunct.LOOP_WS_CONFIG_BOUNDS,
        "Size of the product in tiles of dim x dim, and how much the last ones lack.",
        _word(
            rs1,
            ("pad_i", 16, "Rows that the last tiles of A and C lack."),
            ("pad_j", 16, "Columns that the last tiles of B and C lack."),
            ("pad_k", 16, "Columns that the last tiles of A lack."),
        )
        + _word(
            rs2,
            ("i", 16, "Tiles of rows of A and C."),
            ("j", 16, "Tiles of columns of B and C."),
            ("k", 16, "Tiles of columns of A, and of rows of B."),
        ),
    ),
    Instruction(
        "loop_ws_addresses_ab",
        LibraryFunct.LOOP_WS_CONFIG_ADDRS_AB,
        "Where A and B are; 0: they are in the scratchpad.",
        (_address(rs1, "a", "Of A."), _address(rs2, "b", "Of B.")),
    ),
    Instruction(
        "loop_ws_addresses_dc",
        LibraryFunct.LOOP_WS_CONFIG_ADDRS_DC,
        "Where D is, and where C goes; 0: no such load or store.",
        (_address(rs1, "d", "Of D."), _address(rs2, "c", "Of C.")),
    ),
    *(
        Instruction(
            f"loop_ws_strides_{first}{second}",
            funct,
            "Elements from one row in memory to the next.",
            (
                rs1(f"{first}_stride", 0, 64, f"Of {first.upper()}."),
                rs2(f"{second}_stride", 0, 64, f"Of {second.upper()}."),
            ),
        )
        for first, second, funct in (
            ("a", "b", LibraryFunct.LOOP_WS_CONFIG_STRIDES_AB),
            ("d", "c", LibraryFunct.LOOP_WS_CONFIG_STRIDES_DC),
        )
    ),
)

LOOP_WS: Final = Instruction(
    "loop_ws",
    LibraryFunct.LOOP_WS,
    "C = A*B + D of up to half the scratchpad and half the accumulator.",
    (
        _flag(rs1, "accumulate", 0, "Add to what the accumulator holds from the first tile on."),
        _flag(rs1, "full_c", 1, "C is int32."),
        _flag(rs1, "low_d", 2, "D is int8."),
        rs1("activation", 8, 3, "2 and 4: LayerNorm and softmax of whole rows."),
        *_halves("A", "B"),
        _flag(rs2, "a_transpose", 0, "A is stored transposed."),
        _flag(rs2, "b_transpose", 1, "B is stored transposed."),
        _flag(rs2, "residual", 2, "C = A + B, both scaled on their way in."),
        _flag(rs2, "skip_a", 3, "A is not loaded: it is where it must be."),
        _flag(rs2, "skip_b", 4, "B is not loaded."),
        _flag(rs2, "skip_d", 5, "D is not loaded."),
        _flag(rs2, "skip_products", 6, "Nothing is multiplied."),
        _flag(rs2, "skip_c", 7, "C is not stored."),
        Field("to_scratchpad", "rs2", 8, 2, "C goes to the scratchpad: not built.", fixed=0),
    ),
)


def _convolution(number: int, doc: str, *fields: Field) -> Instruction:
    """A part of the description of a convolution."""
    funct = LibraryFunct(LibraryFunct.LOOP_CONV_WS_CONFIG_1 + number - 1)
    return Instruction(f"loop_conv_{number}", funct, doc, fields)


LOOP_CONV_CONFIGS: Final = (
    _convolution(
        1,
        "Sizes of the tensors in memory.",
        *_word(
            rs1,
            ("batch_size", 16, "Images."),
            ("in_rows", 16, "Rows of an image."),
            ("in_channels", 16, "Channels of the input."),
            ("out_channels", 16, "Channels of the output."),
        ),
        *_word(
            rs2,
            ("out_rows", 16, "Rows of the output."),
            ("pool_out_rows", 16, "Rows of the pooled output."),
            ("out_cols", 16, "Columns of the output."),
            ("stride", 8, "Steps of the kernel."),
            ("padding", 8, "Pixels around the image (not used: see `loop_conv_3`)."),
        ),
    ),
    _convolution(
        2,
        "Kernel, pooling and the size of this tile.",
        *_word(
            rs1,
            ("pool_padding", 8, "Not used: see `loop_conv_4`."),
            ("pool_stride", 8, "Steps of the pooling window."),
            ("pool_size", 16, "Rows and columns of the pooling window."),
            ("pool_out_cols", 16, "Columns of the pooled output."),
            ("kernel_dim", 16, "Rows and columns of the kernel."),
        ),
        *_word(
            rs2,
            ("pochs", 16, "Channels of the output in this tile."),
            ("pocols", 16, "Columns of the pooled output in this tile."),
            ("porows", 16, "Rows of the pooled output in this tile."),
            ("batches", 16, "Images in this tile."),
        ),
    ),
    _convolution(
        3,
        "Kernel and padding of this tile.",
        *_word(
            rs1,
            ("lpad", 16, "Columns of zeros left of the input."),
            ("kchs", 16, "Channels of the input in this tile."),
            ("kcols", 16, "Columns of the kernel in this tile."),
            ("krows", 16, "Rows of the kernel in this tile."),
        ),
        *_word(
            rs2,
            ("in_cols", 16, "Columns of an image."),
            ("plpad", 8, "Columns of zeros left of the image that is pooled."),
            ("dpad", 8, "Rows of zeros below the input."),
            ("upad", 16, "Rows of zeros above the input."),
            ("rpad", 16, "Columns of zeros right of the input."),
        ),
    ),
    _convolution(
        4,
        "Output before pooling, in this tile, and strides in memory.",
        *_word(
            rs1,
            ("kernel_dilation", 10, "Pixels from one element of the kernel to the next."),
            ("pdpad", 11, "Rows of zeros below the image that is pooled."),
            ("pupad", 11, "Rows of zeros above the image that is pooled."),
            ("prpad", 16, "Columns of zeros right of the image that is pooled."),
            ("orows", 16, "Rows before pooling."),
        ),
        *_word(
            rs2,
            ("ocols", 16, "Columns before pooling."),
            ("out_stride", 16, "Elements from one pixel of the output to the next."),
            ("weight_stride", 16, "Elements from one row of weights to the next."),
            ("in_stride", 16, "Elements from one pixel of the input to the next."),
        ),
    ),
    _convolution(
        5,
        "Where the weights are, and where the output goes; 0: no such load or store.",
        _address(rs1, "weights", "Of the weights."),
        _address(rs2, "output", "Of the output."),
    ),
    _convolution(
        6,
        "Where bias (int32) and input are; 0: no such load.",
        _address(rs1, "bias", "Of the bias."),
        _address(rs2, "input", "Of the input."),
    ),
)

_LOOP_CONV: Final = Instruction(
    "loop_conv_ws",
    LibraryFunct.LOOP_CONV_WS,
    "A tile of a convolution.",
    (
        _flag(rs1, "no_bias", 0, "The bias is zeros, whatever its address."),
        _flag(rs1, "rotate", 1, "The kernel is turned by 180 degrees (wrot180)."),
        _flag(rs1, "trans_output_1203", 2, "The output's order is row, column, image, channel."),
        _flag(rs1, "trans_weight_1203", 3, "Weights: input channel, row, column, output channel."),
        _flag(rs1, "trans_weight_0132", 4, "Weights: row, column, output channel, input channel."),
        _flag(rs1, "trans_input_3120", 5, "The input's order is channel, row, column, image."),
        _flag(rs1, "depthwise", 6, "Weights of one channel, without gaps (dw)."),
        rs1("max_pixels", 8, 8, "Pixels of a kernel's row that may share a local row; 0 means 1."),
        *_halves("the input", "weights"),
        _flag(rs2, "no_pool", 0, "The output is not pooled."),
        _flag(rs2, "downsample", 1, "Only every second row and column of the input is loaded."),
        _flag(rs2, "input_dilated", 2, "There is a zero between any two pixels of the input."),
        rs2("activation", 3, 2, "Of a pooled output, as in CONFIG_ST."),
    ),
)

_COUNTER: Final = Instruction(
    "counter",
    LibraryFunct.COUNTER,
    "Its result is the value of one of 8 counters of 32 bits, after what the flags say.",
    (
        _flag(rs1, "reset", 0, "Zero all counters."),
        _flag(rs1, "release", 1, "Forget the snapshot."),
        _flag(rs1, "snapshot", 2, "Take a snapshot: its values are the results from now on."),
        _flag(rs1, "configure", 3, "Let the counter count `event`, from 0."),
        rs1("counter", 4, 3, "Which counter."),
        rs1("event", 12, 6, "What is counted; docs/gemmini.md has the table."),
        _flag(rs1, "external", 31, "The event is a value, not something that happens."),
    ),
)

LIBRARY_INSTRUCTIONS: Final = (
    *LOOP_WS_CONFIGS,
    LOOP_WS,
    *LOOP_CONV_CONFIGS,
    _LOOP_CONV,
    _COUNTER,
)
