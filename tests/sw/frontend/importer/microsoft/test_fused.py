"""Operators of ONNX Runtime's own, compared with ONNX Runtime."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.recognize.recognize import recognize
from tests.sw.frontend.importer.microsoft.nodes import by_runtime, compare, model_of
from tests.sw.frontend.importer.models import floats, imported

X, BIAS = floats(2, 5, 8), floats(8, seed=1)
GAMMA, BETA = floats(8, seed=2), floats(8, seed=3)
IDS = np.array([[3, 1, 0, 2, 2], [1, 1, 4, 0, 3]], np.int32)
WEIGHTS, PACKED = floats(8, 24, seed=4), floats(24, seed=5)
KEYS, VALUES = floats(2, 7, 8, seed=6), floats(2, 7, 8, seed=7)
MASK = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32)
ANGLES = np.outer(np.arange(6), [1, 0.3]).astype(np.float32)
PLACES = np.array([[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]], np.int64)


@pytest.mark.parametrize(
    ("op", "inputs", "made"),
    [
        ("Gelu", [X], ["gelu"]),
        ("BiasGelu", [X, BIAS], ["add", "gelu"]),
        ("FastGelu", [X], ["gelu"]),
        ("FastGelu", [X, BIAS], ["add", "gelu"]),
        ("QuickGelu", [X], ["silu"]),
    ],
)
def test_activations(op, inputs, made):
    assert [node.op for node in compare(op, inputs).nodes] == made


@pytest.mark.parametrize("more", [[BETA], [None, BIAS], [BETA, BIAS]])
def test_layer_normalization_of_a_sum(more):
    inputs = [X, floats(2, 5, 8, seed=9), GAMMA, *more]
    compare("SkipLayerNormalization", inputs, ("y", "", "", "sum"), epsilon=1e-3)


@pytest.mark.parametrize("more", [[], [BIAS]])
def test_rms_normalization_of_a_sum(more):
    inputs = [X, floats(2, 5, 8, seed=9), GAMMA, *more]
    compare("SkipSimplifiedLayerNormalization", inputs, ("y", "", "", "sum"), epsilon=1e-3)


def test_rms_normalization():
    compare("SimplifiedLayerNormalization", [X, GAMMA], domain="", axis=-1, epsilon=1e-3)


FAINT, FAINTER = floats(2, 5, 8, seed=9) * np.float32(2e-4), X * np.float32(1e-4)
"""Rows whose variance is far below 1e-5: what is added to it decides."""
FAINT_TABLES = [table * np.float32(1e-4) for table in (floats(5, 8), floats(5, 8, seed=1))]


@pytest.mark.parametrize(
    ("op", "domain", "inputs"),
    [
        ("SkipLayerNormalization", "com.microsoft", [FAINT, FAINTER, GAMMA, BETA]),
        ("SkipSimplifiedLayerNormalization", "com.microsoft", [FAINT, FAINTER, GAMMA]),
        ("EmbedLayerNormalization", "com.microsoft", [IDS, None, *FAINT_TABLES, None, GAMMA, BETA]),
        ("SimplifiedLayerNormalization", "", [FAINT, GAMMA]),
        ("LayerNormalization", "", [FAINT, GAMMA, BETA]),
        ("InstanceNormalization", "", [FAINT, BETA[:5], GAMMA[:5]]),
        ("BatchNormalization", "", [FAINT, *(GAMMA[:5], BETA[:5], BETA[:5] * 0, GAMMA[:5] * 0)]),
    ],
)
def test_an_epsilon_that_is_left_out_is_that_of_onnx_runtime(op, domain, inputs):
    outputs = ("y", "") if op == "EmbedLayerNormalization" else ("y",)
    compare(op, inputs, outputs, domain)


@pytest.mark.parametrize("segments", [None, np.array([[0, 0, 1, 1, 1], [0, 1, 0, 1, 0]], np.int32)])
def test_embeddings(segments):
    tables = [floats(5, 8, seed=1), floats(5, 8, seed=2), floats(2, 8, seed=3)]
    if segments is None:
        tables[2] = None
    inputs = [IDS, segments, *tables, GAMMA, BETA]
    compare("EmbedLayerNormalization", [*inputs, MASK], ("y", "lengths"))
    compare("EmbedLayerNormalization", inputs, ("y", "lengths"))
    if segments is None:
        places = PLACES[:, ::-1].astype(np.int32) % 5
        compare("EmbedLayerNormalization", [*inputs, None, places], ("y", ""))


def test_products_of_turned_matrices():
    a, b = floats(2, 4, 3), floats(2, 6, 4, seed=1)
    compare("FusedMatMul", [a, b], transA=1, transB=1, alpha=0.125)
    compare("FusedMatMul", [floats(2, 3, 4), floats(2, 4, 6, seed=1)])


@pytest.mark.parametrize(("turned_a", "turned_b"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_products_whose_rows_are_the_first_axis(turned_a, turned_b):
    """As ONNX Runtime has the heads of torch's MultiheadAttention, whose tokens come first."""
    a = floats(*((4, 2, 5, 3) if turned_a else (3, 2, 5, 4)))
    b = floats(*((6, 2, 5, 4) if turned_b else (4, 2, 5, 6)), seed=1)
    turned = {"transA": turned_a, "transB": turned_b}
    compare("FusedMatMul", [a, b], transBatchA=1, transBatchB=1, **turned)


def test_a_bias_stands_between_two_tensors():
    """ONNX Runtime has those of images alone; its results do not tell an order of sums."""
    x, other = floats(2, 3, 320, seed=1), floats(2, 3, 320, seed=2)
    proto, values = model_of("BiasAdd", [x, floats(320), other])
    found = interpret(imported(proto).graph, values)["y"]
    np.testing.assert_allclose(found, x + floats(320) + other, 1e-6, 1e-6)


@pytest.mark.parametrize("equation", ["ij,jk->il", "ij,jk->iik", "ij,jk", "ij,jk->", "ij,kj->ik"])
def test_equations_are_those_of_onnx_runtime_or_refused(equation):
    a, b = floats(3, 4), floats(5, 4, seed=1) if "kj" in equation else floats(4, 5, seed=1)
    if "l" in equation or "ii" in equation:
        (refused,) = imported(
            model_of("Einsum", [a, b], domain="", equation=equation)[0]
        ).refused.values()
        assert "makes axes out of nothing" in str(refused)
        return
    compare("Einsum", [a, b], domain="", equation=equation)


def test_a_dropout_leaves_its_operand_and_its_mask_has_the_same_shape():
    proto, values = model_of("Dropout", [X, np.array(0.5, np.float32)], domain="")
    extra = helper.make_tensor_value_info("kept", TensorProto.BOOL, None)
    proto.graph.node[0].output.append("kept")
    proto.graph.output.append(extra)
    results = interpret(imported(proto).graph, values)
    np.testing.assert_array_equal(results["y"], X)
    assert results["kept"].shape == X.shape
    assert results["kept"].all()


@pytest.mark.parametrize(
    ("mask", "attributes"),
    [
        (None, {}),
        (None, {"unidirectional": 1}),
        (MASK, {}),
        (MASK, {"unidirectional": 1}),
        (np.array([3, 5], np.int32), {}),
        (np.tril(np.ones((2, 5, 5), np.int32)), {"scale": 0.3}),
        (None, {"qkv_hidden_sizes": [4, 4, 16]}),
    ],
)
def test_attention_with_all_weights_in_one(mask, attributes):
    graph = compare("Attention", [X, WEIGHTS, PACKED, mask], num_heads=2, **attributes)
    assert [node.op for node in graph.nodes if node.name in graph.macs()] == ["matmul", "attention"]


@pytest.mark.parametrize("length", [0, 3])
@pytest.mark.parametrize("causal", [0, 1])
def test_attention_with_a_past(length, causal):
    past = floats(2, 2, 2, length, 4, seed=6)
    inputs = [X, WEIGHTS, PACKED, None, past]
    compare("Attention", inputs, ("y", "present"), num_heads=2, unidirectional=causal)
    past = [floats(2, 2, length, 4, seed=seed) for seed in (6, 7)]
    inputs = [X, X * 2, X * 3, PACKED, None, None, *past]
    outputs = ("y", "keys", "values")
    graph = compare("MultiHeadAttention", inputs, outputs, num_heads=2, unidirectional=causal)
    if not length:
        assert not {name for node in graph.nodes for name in node.inputs} & {"i6", "i7"}


@pytest.mark.parametrize(
    ("more", "attributes"),
    [
        ([], {}),
        ([PACKED], {}),
        ([None, np.array([[1] * 7, [1] * 4 + [0] * 3], np.int32)], {}),
        ([None, None, floats(1, 2, 5, 7, seed=8)], {"scale": 0.2}),
    ],
)
def test_attention_of_three_tensors(more, attributes):
    compare("MultiHeadAttention", [X, KEYS, VALUES, *more], num_heads=2, **attributes)


def stacked(*tensors):
    """Tensors (batch, rows, two heads of columns) as (batch, rows, heads, tensors, columns)."""
    return np.stack([each.reshape(*each.shape[:2], 2, -1) for each in tensors], axis=3)


@pytest.mark.parametrize("bias", [None, PACKED])
@pytest.mark.parametrize("together", ["all", "keys and values"])
def test_attention_of_several_tensors_in_one(together, bias):
    """ONNX Runtime has no packed tensors on a CPU: its results are those of three tensors."""
    query, keys, values = X, floats(2, 5, 8, seed=6), floats(2, 5, 8, seed=7)
    packed = [stacked(query, keys, values), None, None]
    if together != "all":
        packed = [query, stacked(keys, values), None]
    proto, given = model_of("MultiHeadAttention", [*packed, bias], num_heads=2)
    found = imported(proto)
    assert not found.lost, found.refused
    apart = model_of("MultiHeadAttention", [query, keys, values, bias], num_heads=2)
    (wanted,) = by_runtime(*apart)
    assert isinstance(wanted, np.ndarray)
    np.testing.assert_allclose(interpret(found.graph, given)["y"], wanted, rtol=1e-4, atol=2e-6)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([stacked(X, X)], "its tensors have 2 parts, not queries, keys and values"),
        ([stacked(X, X, X), X, X], "its tensors have 5 parts, not queries, keys and values"),
        ([floats(2, 5, 4, 3, 2)], "4 heads in one tensor are not 2"),
    ],
)
def test_other_numbers_of_tensors_or_heads_are_refused(inputs, message):
    proto, _ = model_of("MultiHeadAttention", inputs, num_heads=2)
    (refused,) = imported(proto).refused.values()
    assert message in str(refused)


def test_attention_over_keys_that_are_split_into_heads():
    keys, values = floats(2, 2, 7, 4, seed=6), floats(2, 2, 7, 4, seed=7)
    compare("MultiHeadAttention", [X, keys, values], num_heads=2)


@pytest.mark.parametrize("places", [PLACES, np.array([1], np.int64)])
@pytest.mark.parametrize("interleaved", [0, 1])
def test_rotary_embeddings(places, interleaved):
    inputs = [X, places, np.cos(ANGLES), np.sin(ANGLES)]
    compare("RotaryEmbedding", inputs, interleaved=interleaved)


@pytest.mark.parametrize("rotary", [0, 1])
def test_grouped_queries_of_a_prompt(rotary):
    query = floats(1, 5, 64)
    keys, values = floats(1, 5, 32, seed=1), floats(1, 5, 32, seed=2)
    lengths, total = np.array([4], np.int32), np.array(5, np.int32)
    inputs = [query, keys, values, None, None, lengths.reshape(1), total.reshape(())]
    angles = np.outer(np.arange(6), np.geomspace(1, 0.01, 8)).astype(np.float32)
    inputs += [np.cos(angles), np.sin(angles)] if rotary else []
    compare(
        "GroupQueryAttention",
        inputs,
        ("y", "keys", "values"),
        num_heads=4,
        kv_num_heads=2,
        do_rotary=rotary,
    )


@pytest.mark.parametrize("width", [None, 4])
def test_neighbours_that_turn_become_halves(width):
    """Rotations of neighbours, of part of a head or all, leave no reordering where all turns."""
    query, places = floats(2, 2, 5, 8), PLACES
    angles = np.outer(np.arange(6), [1, 0.3, 0.1, 0.03][: (width or 8) // 2]).astype(np.float32)
    part = {} if width is None else {"rotary_embedding_dim": width, "num_heads": 2}
    tables = [np.cos(angles), np.sin(angles)]
    graph = compare("RotaryEmbedding", [query, places, *tables], interleaved=1, **part)
    found = [node.op for node in recognize(graph).graph.nodes]
    assert found.count("rotate") == (width is None)
