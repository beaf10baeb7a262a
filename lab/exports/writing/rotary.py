"""Rotary embeddings, as torch exports them by tracing."""

import numpy as np
from onnx import TensorProto

from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import END, Tape

__all__ = ["Waves", "partly_rotated", "repeated", "rotated", "waves"]

Waves = tuple[str, str]
"""Cosines and sines (texts, 1, tokens, columns that rotate), the same in both halves of columns."""

BASE = 10_000
"""The base of their wavelengths."""


def waves(tape: Tape, places: str, width: int) -> Waves:
    """Cosines and sines of token positions (texts, tokens), for `width` columns that rotate."""
    with tape.inside("rotary_emb"):
        numbers = tape.cast(tape.unsqueeze(places, 1), TensorProto.FLOAT)
        frequencies = (BASE ** -(np.arange(0, width, 2) / width)).astype(np.float32)
        angles = tape.op(
            "MatMul", tape.constant(frequencies[np.newaxis, :, np.newaxis], np.float32), numbers
        )
        angles = tape.op("Transpose", angles, perm=[0, 2, 1])
        angles = tape.op("Concat", angles, angles, axis=-1)
        return tape.unsqueeze(tape.op("Cos", angles), 1), tape.unsqueeze(tape.op("Sin", angles), 1)


def rotated(tape: Tape, x: str, found: Waves) -> str:
    """``x * cos + rotate_half(x) * sin``; half of the columns is computed from the shape."""
    cosines, sines = found
    half = tape.op("Div", tape.size(x, 3), tape.constant(2))
    first, second = tape.slice(x, 0, half, 3), tape.slice(x, half, END, 3)
    turned = tape.op("Concat", tape.op("Neg", second), first, axis=-1)
    return tape.op("Add", tape.op("Mul", x, cosines), tape.op("Mul", turned, sines))


def partly_rotated(tape: Tape, x: str, found: Waves, width: int) -> str:
    """The first `width` columns of each head rotated, and the others as they are."""
    turned = rotated(tape, tape.slice(x, 0, width, 3), found)
    return tape.op("Concat", turned, tape.slice(x, width, END, 3), axis=-1)


def repeated(tape: Tape, size: Size, x: str) -> str:
    """Heads of keys or values, once for each head of queries that reads them."""
    sizes = [tape.size(x, axis) for axis in range(4)]
    times = size.heads // size.key_heads
    whole = tape.expand(tape.unsqueeze(x, 2), *sizes[:2], times, *sizes[2:])
    heads = tape.op("Mul", sizes[1], tape.constant(times))
    return tape.reshape(whole, sizes[0], heads, *sizes[2:])
