"""Why the accelerator stops: the values of its error register."""

from enum import IntEnum
from typing import Final

__all__ = ["ERROR_BITS", "Cause", "describe"]

ERROR_BITS: Final = 4


class Cause(IntEnum):
    """The first thing that went wrong; the accelerator then halts until it is cleared."""

    NONE = 0
    UNKNOWN_FUNCT = 1
    UNSUPPORTED = 2
    LOCAL_RANGE = 3
    SHAPE = 4
    READ_LIMIT = 5
    WRITE_LIMIT = 6
    READ_RESPONSE = 7
    WRITE_RESPONSE = 8
    OVERLAP = 9
    CYCLE_BUDGET = 10
    WATCHDOG = 11
    RING_ENTRY = 12
    RING_RANGE = 13
    SCALE = 14
    LOOP = 15


_TEXT: Final = {
    Cause.NONE: "no error",
    Cause.UNKNOWN_FUNCT: "no instruction has this funct",
    Cause.UNSUPPORTED: "this form of the instruction is not built into this accelerator",
    Cause.LOCAL_RANGE: "a local address leaves the scratchpad, accumulator or parameter memory",
    Cause.SHAPE: "more rows or columns than the instruction can move or multiply",
    Cause.READ_LIMIT: "a read outside the permitted range of memory",
    Cause.WRITE_LIMIT: "a write outside the permitted range of memory",
    Cause.READ_RESPONSE: "memory answered a read with an error",
    Cause.WRITE_RESPONSE: "memory answered a write with an error",
    Cause.OVERLAP: "a destination overlaps one of the command's own operands, or its other one",
    Cause.CYCLE_BUDGET: "the accelerator was busy for more cycles than CYCLE_BUDGET permits",
    Cause.WATCHDOG: "nothing moved for as many busy cycles as WATCHDOG permits",
    Cause.RING_ENTRY: "an entry of the ring is no command: its second word is not 0, or its funct "
    "has too many bits",
    Cause.RING_RANGE: "the doorbell was rung while RING_HEAD or RING_TAIL was not below RING_SIZE",
    Cause.SCALE: "a scale has a longer mantissa than the accelerator's `scale_bits`, or that of "
    "softmax scores is not one positive finite number",
    Cause.LOOP: "a REPEAT, STRIDE or PRODUCTS is not well formed",
}


def describe(cause: Cause) -> str:
    """One clause that says what `cause` means."""
    return _TEXT[cause]
