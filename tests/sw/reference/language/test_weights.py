"""The weights of a decoder are those of its shape."""

import numpy as np
import pytest

from celosia.sw.reference.language.weights import LlamaWeights
from tests.support.language import TINY, random_weights


def test_tensors_that_are_not_those_of_the_shape_are_refused():
    tensors = random_weights().tensors
    norm = tensors["norm"]
    for change, message in (
        ({"norm": norm[:3]}, r"tensor norm: its shape is \(3,\), not \(16,\)"),
        ({"norm": norm * np.float32(np.nan)}, "tensor norm: has numbers that are not finite"),
        ({"other": norm}, "tensor other: is superfluous"),
    ):
        with pytest.raises(ValueError, match=message):
            LlamaWeights(TINY, {**tensors, **change})
    with pytest.raises(ValueError, match="tensor norm: is missing"):
        LlamaWeights(TINY, {name: x for name, x in tensors.items() if name != "norm"})
