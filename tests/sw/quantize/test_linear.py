"""Products in integers, by hand: the largest weight of an output is 127 of its steps."""

import numpy as np
import pytest

from celosia.sw.quantize.linear import IntegerLinear, quantize_linear, weight_steps
from celosia.sw.reference.encoder import Linear


def linear(weights, bias) -> Linear:
    return Linear(np.array(weights, np.float32), np.array(bias, np.float32))


def test_each_output_has_steps_of_its_own():
    weights = np.array([[127, 0.5, 0], [-25.4, -1.27, 0]], np.float32)
    np.testing.assert_allclose(weight_steps(weights), [1, 0.01, 1 / 127], rtol=1e-6)
    found = quantize_linear(linear(weights, [3, -0.05, 0]), 1.0)
    assert found.weights.tolist() == [[127, 50, 0], [-25, -127, 0]]
    assert found.bias.tolist() == [3, -5, 0]
    np.testing.assert_allclose(found.steps, [1, 0.01, 1 / 127], rtol=1e-6)


def test_steps_of_inputs_are_part_of_those_of_sums():
    # Inputs are worth 0.5 and 2: weights of 127 and 31.75 of them count the same.
    found = quantize_linear(linear([[127], [-31.75]], [63.5]), np.array([0.5, 2.0]))
    assert found.weights.tolist() == [[127], [-127]]
    assert found.steps.tolist() == [0.5]
    assert found.bias.tolist() == [127]


def test_the_zero_point_of_inputs_is_in_the_bias():
    found = quantize_linear(linear([[127, 0], [-27, 127]], [10, 20]), 1.0, zero_point=3)
    assert found.bias.tolist() == [10 - 3 * 100, 20 - 3 * 127]


def test_all_outputs_may_have_the_largest_step():
    found = quantize_linear(linear([[127, 6], [0, 3.5]], [2, 7.6]), 1.0, per_tensor=True)
    assert found.steps.tolist() == [1, 1]
    assert found.weights.tolist() == [[127, 6], [0, 4]]
    assert found.bias.tolist() == [2, 8]


def test_a_bias_that_is_too_long_for_its_weights_makes_steps_coarser():
    found = quantize_linear(linear([[1e-12]], [4.0]), 1.0)
    assert found.bias.tolist() == [1 << 30]
    assert found.steps.tolist() == [4.0 / (1 << 30)]
    assert found.weights.tolist() == [[0]]


def test_some_outputs_and_more_of_none():
    whole = IntegerLinear(
        np.array([[1, 2, 3]], np.int8), np.array([4, 5, 6], np.int32), np.array([0.1, 0.2, 0.3])
    )
    part = whole.part(np.array([2, 0]))
    assert (part.weights.tolist(), part.bias.tolist()) == ([[3, 1]], [6, 4])
    assert part.steps.tolist() == [0.3, 0.1]
    padded = whole.padded(5)
    assert padded.weights.tolist() == [[1, 2, 3, 0, 0]]
    assert padded.bias.tolist() == [4, 5, 6, 0, 0]
    assert padded.steps.tolist() == [0.1, 0.2, 0.3, 1, 1]
    assert whole.padded(3) is whole


def test_weights_that_do_not_fit_are_none():
    found = quantize_linear(linear([[0.0, 2.54]], [0, 0]), 1.0)
    assert found.weights.tolist() == [[0, 127]]
    assert found.steps == pytest.approx([1 / 127, 0.02])
