"""What transformers are told by: sums by hand, and operands that have no meaning."""

import math

import numpy as np
import pytest

from celosia.sw.frontend.nn.operators.neural import GELU_NUMBERS
from celosia.sw.frontend.nn.operators.table import OPERATORS
from tests.support.float_operators import computed, refused, result_of, tensor

ROWS = np.array([[1, 2, 4], [-3, 0, 5]], np.float32)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_shares_of_exponentials_also_of_numbers_that_overflow(axis):
    found = computed("softmax", ROWS + 200, axis=axis)
    powers = np.exp(ROWS.astype(float))
    np.testing.assert_allclose(found, powers / powers.sum(axis=axis, keepdims=True), rtol=1e-6)
    refused("axis 2 is not in -2..1", "softmax", "float32[2x3]", axis=2)
    refused("it is not for int8", "softmax", "int8[2]", axis=0)


def test_a_norm_is_over_all_axes_from_its_own():
    cube = np.arange(12, dtype=np.float32).reshape(2, 2, 3) ** 2
    gain, shift = np.array([1, 2, 3], np.float32), np.array([5, 6, 7], np.float32)
    for axis, axes in ((-1, (2,)), (1, (1, 2)), (0, (0, 1, 2))):
        centered = cube - cube.mean(axis=axes, keepdims=True, dtype=float)
        variance = (centered**2).mean(axis=axes, keepdims=True)
        wanted = centered / np.sqrt(variance + 0.5) * gain
        found = computed("layernorm", cube, gain, axis=axis, epsilon=0.5)
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
        found = computed("layernorm", cube, gain, shift, axis=axis, epsilon=0.5)
        np.testing.assert_allclose(found, wanted + shift, rtol=1e-5, atol=1e-5)
        squares = (cube.astype(float) ** 2).mean(axis=axes, keepdims=True)
        found = computed("rmsnorm", cube, gain, axis=axis, epsilon=0.5)
        np.testing.assert_allclose(found, cube / np.sqrt(squares + 0.5) * gain, rtol=1e-5)


@pytest.mark.parametrize("op", ["layernorm", "rmsnorm"])
def test_what_cannot_be_normalized(op):
    more = {"axis": 1, "epsilon": 0.0}
    assert result_of(op, "float32[2x3]", "float32[1x3]", **more) == "float32[2x3]"
    assert result_of(op, "float32[0x0]", "float32[]", **more) == "float32[0x0]"
    refused("float32[4x1x1] does not broadcast", op, "float32[2x3]", "float32[4x1x1]", **more)
    refused("float32[1x1x3] does not broadcast", op, "float32[2x3]", "float32[1x1x3]", **more)
    if op == "layernorm":
        types = ("float32[2x3]", "float32[3]", "float32[4x1x1]")
        refused("float32[4x1x1] does not broadcast", op, *types, **more)
    refused("float32[2] do not broadcast", op, "float32[2x3]", "float32[2]", **more)
    refused("axis 1 is not in -1..0", op, "float32[3]", "float32[3]", **more)


def test_curves_at_points_known_by_hand():
    x = np.array([-10, -3, -1, 0, 1, 3, 10], np.float32)
    # Phi(1) = .8413447, Phi(3) = .9986501 (tables of the normal distribution).
    normal = np.array([0, 0.0013499, 0.1586553, 0.5, 0.8413447, 0.9986501, 1])
    np.testing.assert_allclose(computed("gelu", x, form="erf"), x * normal, atol=2e-6)
    # tanh(sqrt(2 / pi) * 1.044715) = .6823845 and, for 3, tanh(3.3569).
    cubic = 0.5 * (1 + np.tanh(0.7978846 * (x + 0.044715 * x.astype(float) ** 3)))
    np.testing.assert_allclose(computed("gelu", x, form="tanh"), x * cubic, atol=2e-6)
    assert abs(computed("gelu", x, form="tanh")[4] - 0.8411919906) < 1e-6
    np.testing.assert_array_equal(computed("relu", x), [0, 0, 0, 0, 1, 3, 10])
    np.testing.assert_allclose(computed("hardswish", x), [0, 0, -1 / 3, 0, 2 / 3, 3, 10], rtol=1e-6)
    np.testing.assert_allclose(computed("silu", x, alpha=2.0), x / (1 + np.exp(-2.0 * x)), 1e-5)
    refused("form: 'exact' is neither", "gelu", "float32[2]", form="exact")


def test_which_curves_of_silu_a_factor_allows():
    curve = OPERATORS["silu"].curve
    assert curve is not None
    assert curve(2.0) == [{"alpha": 2.0}]
    assert curve(-3.0) == [{"alpha": 3.0}]
    assert curve(0.0) == []


def test_a_table_turns_rows_of_two_halves():
    table = np.array([0.6, 1, 0.8, 0], np.float32)
    found = computed("rotate", np.array([[1, 2, 10, 20]], np.float32), table)
    np.testing.assert_allclose(found, [[0.6 - 8, 2, 6 + 0.8, 20]], rtol=1e-6)
    refused("rows of float32[] are not", "rotate", "float32[]", "float32[]")
    refused("rows of float32[3] are not", "rotate", "float32[3]", "float32[3]")
    refused("does not broadcast", "rotate", "float32[2x4]", "float32[3x1x4]")
    refused("does not broadcast", "rotate", "float32[2x4]", "float32[1]")


ATTENTION = {"scale": 0.5, "causal": False, "first_query": 0}
FITTING = ("float32[2x4x3x8]", "float32[2x2x5x8]", "float32[2x2x5x6]")


def test_heads_share_keys_in_order_and_their_products_are_counted():
    assert result_of("attention", *FITTING, "float32[4x1x5]", **ATTENTION) == "float32[2x4x3x6]"
    macs = OPERATORS["attention"].macs
    assert macs is not None
    types = [tensor(each) for each in FITTING]
    assert macs(types, types[0]) == 2 * 4 * 3 * 5 * (8 + 6)
    random = np.random.default_rng(1)
    query, key, value = (random.standard_normal(each.shape) for each in types)
    bias = random.standard_normal((4, 1, 5))
    for causal, first in ((False, 0), (True, 1)):
        more = {"scale": 0.5, "causal": causal, "first_query": first}
        found = computed("attention", query, key, value, bias, **more)
        for batch, head, row in np.ndindex(2, 4, 3):
            seen = min(5, row + first + 1) if causal else 5
            keys, values = (each[batch, head // 2, :seen] for each in (key, value))
            powers = np.exp(keys @ query[batch, head, row] / 2 + bias[head, 0, :seen])
            np.testing.assert_allclose(found[batch, head, row], powers @ values / powers.sum())


@pytest.mark.parametrize(
    ("place", "other", "message"),
    [
        (0, "float32[4x3x8]", "float32[4x3x8] has not four axes"),
        (2, "float32[2x5x6]", "float32[2x5x6] has not four axes"),
        (1, "float32[1x2x5x8]", "do not fit"),
        (2, "float32[1x2x5x6]", "do not fit"),
        (2, "float32[2x1x5x6]", "do not fit"),
        (2, "float32[2x2x4x6]", "do not fit"),
        (1, "float32[2x2x5x7]", "do not fit"),
        (0, "float32[2x3x3x8]", "3 heads cannot share 2 keys"),
        (3, "float32[3x4]", "do not broadcast"),
        (3, "float32[7x2x4x3x5]", "its bias float32[7x2x4x3x5] does not broadcast"),
        (3, "int8[3x5]", "of different types"),
    ],
)
def test_operands_of_attention_that_do_not_fit(place, other, message):
    types = [*FITTING, "float32[3x5]"]
    types[place] = other
    refused(message, "attention", *types, **ATTENTION)


def test_heads_cannot_share_no_keys():
    empty = ("float32[2x4x3x8]", "float32[2x0x5x8]", "float32[2x0x5x6]")
    refused("4 heads cannot share 0 keys", "attention", *empty, **ATTENTION)


def test_a_query_that_sees_no_key_gives_zeros():
    query, key, value = (np.ones(tensor(each).shape, np.float32) for each in FITTING)
    found = computed("attention", query, key, value, scale=0.5, causal=True, first_query=-1)
    assert [found[0, 0, row, 0] for row in range(3)] == [0, 1, 1]
    bias = np.full((3, 5), -np.inf, np.float32)
    bias[2, 4] = 0
    found = computed("attention", query, key, value, bias, **ATTENTION)
    assert [found[0, 0, row, 0] for row in range(3)] == [0, 0, 1]


def test_numbers_of_gelu_are_those_of_its_definitions():
    """A graph of half precision has them rounded; they are read as what they mean."""
    root, half, tanh, cube = GELU_NUMBERS
    assert (root * root, half * half) == pytest.approx((2, 0.5))
    assert tanh * tanh * math.pi == pytest.approx(2)
    assert cube == 0.044715
