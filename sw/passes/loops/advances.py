"""How operands may advance from one iteration to the next, for many commands at once.

An advance is what a STRIDE can say of one operand: a 64-bit sum, or, where that does not explain
all that is known, one for each lane, perhaps modulo a power of two.  It is a row of an array of
int64 (the columns are `_PLAIN` and on), so that thousands are computed and joined together.
Joining keeps those ways of advancing that explain both.
"""

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import STRIDE, Command
from celosia.isa.encoding.loops import ADDEND_BITS, LANE_BITS, LANES

__all__ = [
    "FIELDS",
    "Advances",
    "Words",
    "advances",
    "join",
    "moves",
    "possible",
    "still",
    "stride",
]

Words = NDArray[np.uint64]
"""Operands; the last axis is rs1, rs2."""
Advances = NDArray[np.int64]
"""How operands advance; the last axis has `FIELDS` numbers, at the places below."""

_PLAIN, _DELTA, _HIGH = range(3)
"""Whether a 64-bit sum explains it, which one; whether the bits above all lanes stay the same."""
_BY = slice(3, 3 + LANES)
"""What is added to each lane."""
_CHANGED = slice(3 + LANES, 3 + 2 * LANES)
"""Low bits of each lane that must be free to change."""
_ALIKE = slice(3 + 2 * LANES, 3 + 3 * LANES)
"""Low bits of each lane in which the sums are the same; `LANE_BITS`: they are just the same."""
FIELDS: Final = 3 + 3 * LANES

_LANE: Final = (1 << LANE_BITS) - 1
_SHIFTS: Final = np.arange(LANES, dtype=np.uint64) * np.uint64(LANE_BITS)
_MOST: Final = 1 << ADDEND_BITS - 1
"""A sum is less than this, and at least minus this."""
_BITS: Final = np.array([value.bit_length() for value in range(_LANE + 1)], np.int64)
_ZEROS: Final = np.array(
    [LANE_BITS - 1, *((v & -v).bit_length() - 1 for v in range(1, _LANE + 1))], np.int64
)
"""Trailing zeros, as far as a wrap counts them."""


def advances(old: Words, new: Words) -> Advances:
    """How operands advance from `old` to `new`."""
    result = np.empty((*old.shape, FIELDS), np.int64)
    delta = (new - old).view(np.int64)
    result[..., _PLAIN] = (delta >= -_MOST) & (delta < _MOST)
    result[..., _DELTA] = delta
    result[..., _HIGH] = old >> np.uint64(ADDEND_BITS) == new >> np.uint64(ADDEND_BITS)
    before, after = (_lanes(words) for words in (old, new))
    result[..., _BY] = after - before
    result[..., _CHANGED] = _BITS[after ^ before]
    result[..., _ALIKE] = LANE_BITS
    return result


def still(shape: tuple[int, ...]) -> Advances:
    """The advances of operands that stay the same."""
    words = np.zeros(shape, np.uint64)
    return advances(words, words)


def join(first: Advances, others: Advances) -> Advances:
    """The advances that explain `first` and all `others`, which have an axis in front."""
    result = first.copy()
    same = (others[..., _PLAIN] > 0) & (others[..., _DELTA] == first[..., _DELTA])
    result[..., _PLAIN] &= same.all(0)
    result[..., _HIGH] &= others[..., _HIGH].min(0)
    apart = others[..., _BY] - first[..., _BY]
    result[..., _CHANGED] = np.maximum(first[..., _CHANGED], others[..., _CHANGED].max(0))
    alike = np.where(apart == 0, LANE_BITS, _ZEROS[apart & _LANE])
    alike = np.minimum(alike, others[..., _ALIKE]).min(0)
    result[..., _ALIKE] = np.minimum(alike, first[..., _ALIKE])
    return result


def possible(each: Advances) -> NDArray[np.bool_]:
    """Whether anything explains it: one for each operand."""
    alike, by = each[..., _ALIKE], each[..., _BY]
    plain = (alike == LANE_BITS) & (abs(by) < 1 << LANE_BITS - 1)
    lanes = plain | ((alike < LANE_BITS) & (each[..., _CHANGED] <= alike))
    return (each[..., _PLAIN] > 0) | ((each[..., _HIGH] > 0) & lanes.all(-1))


def moves(each: Advances) -> NDArray[np.bool_]:
    """Whether an operand is other than it was: one for each operand."""
    return (each[..., _PLAIN] == 0) | (each[..., _DELTA] != 0)


def stride(each: Advances) -> Command:
    """The STRIDE of one command's `possible` advances."""
    values: dict[str, int] = {}
    for number, word in enumerate(each, start=1):
        addend, wraps = _operand(word)
        values[f"addend{number}"] = addend & ((1 << ADDEND_BITS) - 1)
        values |= {f"wrap{number}_{lane}": wrap for lane, wrap in enumerate(wraps)}
    return STRIDE.encode(**values)


def _operand(word: NDArray[np.int64]) -> tuple[int, tuple[int, ...]]:
    """Addend and wraps of an operand."""
    if word[_PLAIN]:
        return int(word[_DELTA]), (0,) * LANES
    addend, carry, wraps = 0, 0, []
    for lane, (by, alike) in enumerate(zip(word[_BY], word[_ALIKE], strict=True)):
        wrap = 0 if alike == LANE_BITS else int(alike)
        part = int(by) - carry
        # A lane that goes down borrows: what it adds is carried.  A wrapped one carries nothing.
        carry = int(part < 0 and not wrap)
        addend |= (part & ((1 << wrap) - 1 if wrap else _LANE)) << lane * LANE_BITS
        wraps.append(wrap)
    return addend, tuple(wraps)


def _lanes(words: Words) -> NDArray[Any]:
    return (words[..., None] >> _SHIFTS & np.uint64(_LANE)).astype(np.int64)
