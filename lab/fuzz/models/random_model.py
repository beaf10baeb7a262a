"""Random ONNX models of views, products, norms, softmax and lookups that read each other."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from onnx import ModelProto

from celosia.lab.fuzz.models.drawing import Drawing, Tensor
from celosia.lab.fuzz.models.steps import STEPS, product

__all__ = ["RandomModel", "random_model"]

_SAMPLES: Final = 32
_LARGEST: Final = 3000
"""Elements of a tensor behind which a model ends."""
_SIZES: Final = (1, 2, 3, 4, 5, 6, 8)
_WIDTHS: Final = (4, 6, 8, 12, 16)
_Arrays = dict[str, np.ndarray[Any, np.dtype[Any]]]


@dataclass(frozen=True)
class RandomModel:
    """A model, and what it is tried on."""

    proto: ModelProto
    inputs: _Arrays
    calibration: _Arrays
    """Samples of inputs, along one more axis."""
    steps: tuple[str, ...]
    """How it was made, for people."""


def random_model(seed: int) -> RandomModel:
    """The model of a seed."""
    g = Drawing(seed)
    shape = (*(g.pick(*_SIZES) for _ in range(g.below(4, 1))), g.pick(*_WIDTHS))
    x = Tensor("x", shape)
    g.tensors.append(x)
    if g.chance(0.8):
        _step(g, product)
    for _ in range(g.below(11, 3)):
        _step(g, STEPS[g.below(len(STEPS))])
        if g.tensors[-1].size > _LARGEST:
            break
    if g.chance(0.8):
        _step(g, product)
    outputs = {"y": g.tensors[-1]}
    if g.chance(0.2):
        outputs["z"] = g.pick(*g.tensors)
    given, samples = (
        g.random.standard_normal((*more, *shape)).astype(np.float32) for more in ((), (_SAMPLES,))
    )
    return RandomModel(g.model(x, outputs), {"x": given}, {"x": samples}, tuple(g.steps))


def _step(g: Drawing, step: Any) -> None:
    made = step(g, g.tensors[-1])
    if made is not None:
        g.tensors.append(made)
        g.steps.append(step.__name__)
