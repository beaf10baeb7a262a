"""Random models are legal, repeatable, and of all kinds."""

import numpy as np
import onnx
import pytest

from celosia.lab.fuzz.models.check import expected
from celosia.lab.fuzz.models.random_model import random_model


def test_the_same_seed_is_the_same_model():
    first, again = (random_model(7) for _ in range(2))
    assert first.proto.SerializeToString() == again.proto.SerializeToString()
    np.testing.assert_array_equal(first.inputs["x"], again.inputs["x"])
    assert first.proto.SerializeToString() != random_model(8).proto.SerializeToString()


@pytest.mark.parametrize("seed", range(40))
def test_a_model_is_what_the_standard_says_and_has_the_shapes_that_it_says(seed):
    model = random_model(seed)
    onnx.checker.check_model(model.proto, full_check=True)
    (found,) = expected(model.proto, [model.inputs])
    for value in model.proto.graph.output:
        shape = tuple(each.dim_value for each in value.type.tensor_type.shape.dim)
        assert found[value.name].shape == shape
    assert model.calibration["x"].shape[1:] == model.inputs["x"].shape


def test_models_have_scalars_and_sizes_of_one():
    models = [random_model(seed).proto for seed in range(60)]
    gathers = [node for proto in models for node in proto.graph.node if node.op_type == "Gather"]
    known = [{each.name: each for each in proto.graph.initializer} for proto in models]
    ranks = {
        len(each[node.input[1]].dims) for node in gathers for each in known if node.input[1] in each
    }
    assert {0, 1, 2} <= ranks
    shapes = [proto.graph.input[0].type.tensor_type.shape.dim for proto in models]
    assert any(size.dim_value == 1 for shape in shapes for size in shape)
