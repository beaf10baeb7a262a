"""Attention of ONNX Runtime's own: attributes that are spelled out, and what is refused."""

import numpy as np
import pytest

from tests.sw.frontend.importer.microsoft.nodes import compare, model_of
from tests.sw.frontend.importer.models import floats, imported

QUERY, KEYS, VALUES = floats(1, 5, 64), floats(1, 5, 32, seed=1), floats(1, 5, 32, seed=2)
GROUPED = [QUERY, KEYS, VALUES, None, None, np.array([4], np.int32), np.array(5, np.int32)]
HEADS = {"num_heads": 4, "kv_num_heads": 2}
OUTPUTS = ("y", "keys", "values")
X, PACKED, BIAS = floats(2, 5, 8), floats(8, 24, seed=4), floats(24, seed=5)
MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)


def refusal(op, inputs, outputs=("y",), **attributes) -> str:
    proto, _ = model_of(op, inputs, outputs, **attributes)
    (said,) = imported(proto).refused.values()
    return said


@pytest.mark.parametrize(
    "attributes", [{"local_window_size": -1}, {"softcap": 0.0}, {"smooth_softmax": 0}]
)
def test_what_changes_nothing_may_be_spelled_out(attributes):
    compare("GroupQueryAttention", GROUPED, OUTPUTS, **HEADS, **attributes)


@pytest.mark.parametrize(("name", "value"), [("local_window_size", 4), ("smooth_softmax", 1)])
def test_what_would_change_results_is_refused(name, value):
    attributes = {**HEADS, name: value}
    said = refusal("GroupQueryAttention", GROUPED, OUTPUTS, **attributes)
    assert f"its attribute {name} is not supported" in said


@pytest.mark.parametrize("softcap", [0.5, 30.0])
def test_a_softcap_is_a_cap_of_scores(softcap):
    attributes = {**HEADS, "softcap": softcap}
    graph = compare("GroupQueryAttention", GROUPED, OUTPUTS, **attributes)
    (node,) = (each for each in graph.nodes if each.op == "attention")
    assert node.attributes["cap"] == softcap


@pytest.mark.parametrize("places", [None, [[1, 2, 3, 4, 5]]], ids=["", "places"])
@pytest.mark.parametrize("interleaved", [0, 1])
def test_grouped_queries_keys_and_values_may_be_one_tensor(interleaved, places):
    """Of 4 and 2 heads of 16 columns, with and without places of their own, and a bias."""
    whole = np.concatenate([QUERY, KEYS, VALUES], axis=2)
    angles = np.outer(np.arange(6), np.geomspace(1, 0.01, 8)).astype(np.float32)
    rest = [*GROUPED[3:], np.cos(angles), np.sin(angles)]
    rest += [places and np.array(places), floats(1, 4, 5, 5, seed=3)]
    given = {**HEADS, "do_rotary": 1, "rotary_interleaved": interleaved}
    compare("GroupQueryAttention", [whole, None, None, *rest], OUTPUTS, **given)


@pytest.mark.parametrize("scale", [None, 0.0, 0.5])
@pytest.mark.parametrize("unidirectional", [0, 1])
def test_a_scale_of_0_is_that_of_the_columns_of_a_head(scale, unidirectional):
    given = {} if scale is None else {"scale": scale}
    inputs = [X, PACKED, BIAS]
    compare("Attention", inputs, num_heads=2, unidirectional=unidirectional, **given)


@pytest.mark.parametrize("hidden", [None, -1.0])
@pytest.mark.parametrize("mask", [MASK, np.array([3, 5], np.int32)], ids=["keys", "lengths"])
def test_hidden_keys_have_what_is_added_to_them(mask, hidden):
    """With -1, which is added, keys that are hidden keep a weight."""
    given = {} if hidden is None else {"mask_filter_value": hidden}
    compare("Attention", [X, PACKED, BIAS, mask], num_heads=2, **given)


@pytest.mark.parametrize("attributes", [{}, {"num_heads": 2}, {"num_heads": 0}], ids=str)
@pytest.mark.parametrize("places", [np.array([1], np.int64), np.array([[3, 0, 1, 1, 2]] * 2)])
def test_heads_that_stand_side_by_side_turn_each_by_itself(attributes, places):
    """As many as tables of four columns say, where their number is not written."""
    angles = np.outer(np.arange(6), np.geomspace(1, 0.1, 2)).astype(np.float32)
    compare("RotaryEmbedding", [X, places, np.cos(angles), np.sin(angles)], **attributes)


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"do_rotary": 1}, "rotary embeddings inside of it"),
        ({"qkv_hidden_sizes": [8, 8, 4]}, "are not the parts of 24 columns"),
    ],
)
def test_what_attention_does_not_know_is_refused(attributes, said):
    assert said in refusal("Attention", [X, PACKED, BIAS], num_heads=2, **attributes)


@pytest.mark.parametrize(
    ("op", "inputs", "attributes", "said"),
    [
        (
            "Attention",
            [X, PACKED, BIAS, None, np.zeros((2, 2, 2, 3, 4), np.float32)],
            {"num_heads": 2, "past_present_share_buffer": 1},
            "a past in the buffer of the present is not supported",
        ),
        (
            "MultiHeadAttention",
            [X, *[np.zeros((2, 2, 5, 4), np.float32)] * 2, BIAS],
            {"num_heads": 2},
            "a bias of keys that are split into heads is not supported",
        ),
        (
            "RotaryEmbedding",
            [X, np.zeros(1, np.int64), *[np.zeros((9, 4), np.float32)] * 2],
            {"scale": 2.0},
            "a scale and packed batches are not supported",
        ),
        (
            "RotaryEmbedding",
            [X, np.zeros(1, np.int64), *[np.zeros((9, 4), np.float32)] * 2],
            {"is_packed_batching": 1},
            "a scale and packed batches are not supported",
        ),
        (
            "GroupQueryAttention",
            [*GROUPED[:3], *[np.zeros((2, 1, 3, 4), np.float32)] * 2, *GROUPED[5:]],
            {"num_heads": 2, "kv_num_heads": 1},
            "keys and values of the past are not supported",
        ),
    ],
)
def test_what_a_node_has_besides_is_refused(op, inputs, attributes, said):
    assert said in refusal(op, inputs, **attributes)


def test_a_mask_of_another_shape_is_refused_with_it():
    said = refusal("Attention", [X, PACKED, BIAS, np.ones((2, 4), np.int32)], num_heads=2)
    assert "its mask has shape (2, 4) for 2 batches of 5 keys" in said
