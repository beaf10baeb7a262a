"""Rotary embeddings, as torch exports them by tracing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import END, Tape

__all__ = [
    "SCALINGS",
    "Scaling",
    "Waves",
    "neighbours_rotated",
    "partly_rotated",
    "repeated",
    "rotated",
    "waves",
]

Waves = tuple[str, str]
"""Cosines and sines (texts, 1, tokens, columns that rotate), the same in both columns of a pair."""

BASE = 10_000
"""The base of their wavelengths."""


FACTOR, TAUGHT = 8.0, 32
"""How much longer texts become by scaled waves, and the tokens of those before."""


@dataclass(frozen=True)
class Scaling:
    """How waves are made longer, for texts longer than those that a model was taught with."""

    frequencies: Callable[[NDArray[Any]], NDArray[Any]]
    amplitude: float = 1.0
    """What multiplies cosines and sines."""


def _mixed(frequencies: NDArray[Any], kept: NDArray[Any]) -> NDArray[Any]:
    """Frequencies over `FACTOR`, but for a share of each that is kept."""
    return frequencies * (kept + (1 - kept) / FACTOR)


def _turns(frequencies: NDArray[Any]) -> NDArray[Any]:
    """How often a wave turns in a text that the model was taught with."""
    return TAUGHT * frequencies / (2 * np.pi)


SCALINGS: Final = {
    "linear": Scaling(lambda found: found / FACTOR),
    "llama3": Scaling(lambda found: _mixed(found, np.clip((_turns(found) - 1) / (4 - 1), 0, 1))),
    "yarn": Scaling(
        lambda found: _mixed(found, np.clip((_turns(found) - 0.5) / (2 - 0.5), 0, 1)),
        0.1 * float(np.log(FACTOR)) + 1,
    ),
}
"""Scaled waves by name: linear (Chen et al., arXiv 2306.15595), by wavelength (Llama 3.1), and by
turns with an amplitude (YaRN, Peng et al., arXiv 2309.00071, whose ramp is by turns here)."""


def waves(
    tape: Tape, places: str, width: int, scaling: Scaling | None = None, *, beside: bool = False
) -> Waves:
    """Cosines and sines of token positions (texts, tokens), for `width` columns that rotate.

    `beside`: columns of a pair are neighbours, else half of `width` apart.
    """
    with tape.inside("rotary_emb"):
        numbers = tape.cast(tape.unsqueeze(places, 1), TensorProto.FLOAT)
        frequencies = BASE ** -(np.arange(0, width, 2) / width)
        if scaling is not None:
            frequencies = scaling.frequencies(frequencies)
        frequencies = frequencies.astype(np.float32)
        angles = tape.op(
            "MatMul", tape.constant(frequencies[np.newaxis, :, np.newaxis], np.float32), numbers
        )
        angles = tape.op("Transpose", angles, perm=[0, 2, 1])
        if beside:
            pairs = tape.expand(tape.unsqueeze(angles, 3), -1, -1, -1, 2)
            angles = tape.reshape(pairs, tape.size(angles, 0), tape.size(angles, 1), width)
        else:
            angles = tape.op("Concat", angles, angles, axis=-1)
        found = tape.op("Cos", angles), tape.op("Sin", angles)
        if scaling is not None and scaling.amplitude != 1:
            found = tuple(tape.op("Mul", each, tape.number(scaling.amplitude)) for each in found)
        cosines, sines = (tape.unsqueeze(each, 1) for each in found)
        return cosines, sines


def rotated(tape: Tape, x: str, found: Waves) -> str:
    """``x * cos + rotate_half(x) * sin``; half of the columns is computed from the shape."""
    cosines, sines = found
    half = tape.op("Div", tape.size(x, 3), tape.constant(2))
    first, second = tape.slice(x, 0, half, 3), tape.slice(x, half, END, 3)
    turned = tape.op("Concat", tape.op("Neg", second), first, axis=-1)
    return tape.op("Add", tape.op("Mul", x, cosines), tape.op("Mul", turned, sines))


def neighbours_rotated(tape: Tape, x: str, found: Waves) -> str:
    """``x * cos + rotate_every_two(x) * sin``: columns turn with their neighbours."""
    cosines, sines = found
    even, odd = (tape.slice(x, at, END, 3, step=2) for at in (0, 1))
    pairs = [tape.unsqueeze(each, 4) for each in (tape.op("Neg", odd), even)]
    sizes = [tape.size(x, axis) for axis in range(4)]
    turned = tape.reshape(tape.op("Concat", *pairs, axis=-1), *sizes)
    return tape.op("Add", tape.op("Mul", x, cosines), tape.op("Mul", turned, sines))


def partly_rotated(tape: Tape, x: str, found: Waves, width: int, *, beside: bool = False) -> str:
    """The first `width` columns of each head rotated, and the others as they are."""
    turn = neighbours_rotated if beside else rotated
    turned = turn(tape, tape.slice(x, 0, width, 3), found)
    return tape.op("Concat", turned, tape.slice(x, width, END, 3), axis=-1)


def repeated(tape: Tape, size: Size, x: str) -> str:
    """Heads of keys or values, once for each head of queries that reads them."""
    sizes = [tape.size(x, axis) for axis in range(4)]
    times = size.heads // size.key_heads
    whole = tape.expand(tape.unsqueeze(x, 2), *sizes[:2], times, *sizes[2:])
    heads = tape.op("Mul", sizes[1], tape.constant(times))
    return tape.reshape(whole, sizes[0], heads, *sizes[2:])
