"""An encoder in integers: named arrays, with the types and shapes that `layout` lists.

The names are those of the model file and of the constants of its graph.  Vectors are matrices of
one row; scalars have no dimension.  ``docs/model-format.md`` says what each is for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.sw.reference.encoder import EncoderShape

__all__ = [
    "IntegerEncoder",
    "ModelError",
    "Slot",
    "embedding_layout",
    "layout",
    "verify",
    "verify_slots",
]

Array = NDArray[Any]


class ModelError(ValueError):
    """A model that is not what it must be."""


@dataclass(frozen=True)
class Slot:
    """Type and shape of an array."""

    type: str
    shape: tuple[int, ...]

    @property
    def rows(self) -> int:
        """The first size of the shape; a scalar has one row."""
        return self.shape[0] if self.shape else 1

    def __str__(self) -> str:
        return f"{self.type} of {self.shape}"


@dataclass(frozen=True, eq=False)
class IntegerEncoder:
    """An encoder's arrays by name."""

    shape: EncoderShape
    tensors: Mapping[str, Array]

    def scalar(self, name: str) -> float:
        """The value of a scalar."""
        return self.tensors[name].item()

    def integer(self, name: str) -> int:
        """The value of an integer scalar."""
        return int(self.tensors[name])

    @property
    def vocabulary(self) -> tuple[int, int] | None:
        """Words and positions of its embeddings, if it has any."""
        if "embedding.words" not in self.tensors:
            return None
        return len(self.tensors["embedding.words"]), len(self.tensors["embedding.positions"])


def layout(shape: EncoderShape) -> dict[str, Slot]:
    """All arrays of an encoder of this shape but its embeddings."""
    slots = {"embedding.step": _STEP, "output.step": _STEP}
    slots |= _norm("norm", shape.width, two=True)
    for index in range(shape.layers):
        last = index == shape.layers - 1
        slots |= {f"layers.{index}.{name}": slot for name, slot in _layer(shape, last=last)}
    return slots


def embedding_layout(width: int, words: int, positions: int) -> dict[str, Slot]:
    """The tables that a token's two embeddings are looked up in."""
    return {
        "embedding.words": Slot("int16", (words, width)),
        "embedding.positions": Slot("int16", (positions, width)),
    }


def verify(model: IntegerEncoder) -> IntegerEncoder:
    """Return `model` if it has the arrays of its shape and no other; raise `ModelError` if not."""
    tensors = model.tensors
    verify_slots(
        model.shape, {name: Slot(str(each.dtype), each.shape) for name, each in tensors.items()}
    )
    for name, tensor in tensors.items():
        if tensor.dtype == np.float32 and not np.isfinite(tensor).all():
            raise ModelError(f"tensor {name} is not finite everywhere")
    return model


def verify_slots(shape: EncoderShape, slots: Mapping[str, Slot]) -> None:
    """Raise `ModelError` unless `slots` are those of the arrays of an encoder of `shape`."""
    expected = layout(shape)
    tables = embedding_layout(1, 1, 1)
    if any(name in slots for name in tables):
        counts = [slots[name].rows if name in slots else 1 for name in tables]
        expected |= embedding_layout(shape.width, *counts)
    for name, slot in expected.items():
        if name not in slots:
            raise ModelError(f"tensor {name} is missing; it is {slot}")
        if slots[name] != slot:
            raise ModelError(f"tensor {name} is {slots[name]}, not {slot}")
    for name in slots:
        if name not in expected:
            raise ModelError(f"tensor {name} is not part of an encoder")


_STEP = Slot("float32", ())
_INTEGER = Slot("int32", ())


def _layer(shape: EncoderShape, *, last: bool) -> Iterator[tuple[str, Slot]]:
    width, hidden = shape.width, shape.hidden
    for name in ("query", "key", "value", "output"):
        yield from _linear(name, width, width)
    yield from _linear("up", width, hidden)
    yield from _linear("down", hidden, width)
    yield "scores.scale", Slot("float32", (1, shape.heads))
    for name in ("context.scale", "output.residual_scale", "hidden.scale", "down.residual_scale"):
        yield name, _STEP
    for name in ("hidden.gelu", "hidden.zero_point"):
        yield name, _INTEGER
    for name in ("input", "attention_sum", "attention", "sum"):
        yield f"{name}.step", _STEP
    yield from _norm("attention_norm", width, two=True).items()
    yield from _norm("norm", width, two=not last).items()


def _linear(name: str, inputs: int, outputs: int) -> Iterator[tuple[str, Slot]]:
    yield f"{name}.weights", Slot("int8", (inputs, outputs))
    yield f"{name}.bias", Slot("int32", (1, outputs))
    yield f"{name}.scale", Slot("float32", (1, outputs))


def _norm(name: str, width: int, *, two: bool) -> dict[str, Slot]:
    slots = {f"{name}.epsilon": _STEP}
    for output in ("small", "wide") if two else ("wide",):
        slots[f"{name}.{output}.gamma"] = Slot("int16", (1, width))
        slots[f"{name}.{output}.beta"] = Slot("int32", (1, width))
        slots[f"{name}.{output}.shift"] = _INTEGER
    return slots
