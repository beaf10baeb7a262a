"""Each step makes what it says, and every step is drawn."""

from collections import Counter

import onnx
import pytest

from celosia.lab.fuzz.models.drawing import OPSETS, Drawing, Tensor
from celosia.lab.fuzz.models.random_model import random_model
from celosia.lab.fuzz.models.steps import STEPS

SHAPES = [(), (5,), (1,), (3, 8), (1, 6), (2, 4, 8), (1, 3, 4, 6)]


@pytest.mark.parametrize("step", dict.fromkeys(STEPS), ids=lambda step: step.__name__)
def test_a_step_fits_or_does_not_and_knows_its_shape(step):
    fits = set()
    for seed in range(6 * len(SHAPES)):
        g, x = Drawing(seed), Tensor("x", SHAPES[seed % len(SHAPES)])
        g.tensors += [Tensor("x", x.shape), x]
        made = step(g, x)
        if made is not None:
            fits.add(x.rank)
            onnx.checker.check_model(g.model(x, {"y": made}), full_check=True)
            inferred = onnx.shape_inference.infer_shapes(g.model(x, {"y": made}), strict_mode=True)
            (output,) = inferred.graph.output
            shape = tuple(each.dim_value for each in output.type.tensor_type.shape.dim)
            assert shape == made.shape
    assert fits or step.__name__ == "both"


def test_all_steps_and_versions_are_drawn():
    models = [random_model(seed) for seed in range(300)]
    drawn = Counter(step for model in models for step in model.steps)
    assert drawn.keys() == {step.__name__ for step in STEPS}
    versions = {model.proto.opset_import[0].version for model in models}
    assert versions == set(OPSETS)
