"""Everything of a transformer that multiplies is a unit, whoever has written the file."""

import numpy as np
import pytest
from onnx import checker, helper

from celosia.isa.functions.table import ACTIVATIONS
from celosia.sw.frontend.importer.source.model_file import DEFAULT_DOMAIN
from celosia.sw.frontend.importer.source.problems import ImportProblem, Refusal
from celosia.sw.frontend.importer.table import HANDLERS
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import GraphError, TensorType
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.ir.graph import Mask
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.quantize.units.units import Attention, Finishing, Normalization, Product, Rotation
from celosia.sw.quantize.units.vectors import Multiplication, Subtraction
from tests.support.quantized_exports import recognized
from tests.support.quantized_graph import quantize_graph
from tests.sw.frontend.importer.models import floats, imported, model

BERTS = ("bert-13", "bert-17", "bert-sdpa", "bert-dynamo", "bert-attention")


def kinds(name):
    units = find_units(recognized(name)).units.values()
    return [sum(isinstance(unit, kind) for unit in units) for kind in (Product, Attention)], units


def share(name):
    graph = recognized(name)
    macs, nodes = graph.macs(), find_units(graph).nodes
    return sum(count for node, count in macs.items() if node in nodes) / sum(macs.values())


@pytest.mark.parametrize("name", BERTS)
def test_every_bert_has_the_same_units(name):
    (products, attentions), units = kinds(name)
    finishes = [unit for unit in units if isinstance(unit, Finishing)]
    assert (products, attentions) == (12, 2)
    assert [unit.function for unit in finishes] == [None, "gelu", None] * 2
    assert sum(isinstance(unit, Normalization) for unit in units) == 5
    assert share(name) == 1


@pytest.mark.parametrize(
    "name",
    [
        *("bert-fused", "vit", "gpt2", "opt", "llama"),
        *("whisper-encoder", "bart-decoder", "t5-encoder"),
    ],
)
def test_all_products_of_other_transformers_are_units(name):
    assert share(name) == 1


@pytest.mark.parametrize(("name", "rotations"), [("llama", 4), ("gpt2", 0)])
def test_queries_and_keys_are_turned_on_the_accelerator(name, rotations):
    """Queries and keys of each of two layers are."""
    units = {id(unit): unit for unit in find_units(recognized(name)).units.values()}
    assert sum(isinstance(unit, Rotation) for unit in units.values()) == rotations


def test_one_product_of_queries_keys_and_values_is_read_by_columns():
    _, units = kinds("gpt2")
    attention = next(unit for unit in units if isinstance(unit, Attention))
    head = attention.heads[1][2]
    assert head.first_row == 0
    assert head.query.tensor == head.key.tensor == head.value.tensor
    assert [view.col for view in (head.query, head.key, head.value)] == [32, 96, 160]
    assert {view.row for view in (head.query, head.key, head.value)} == {16}


def test_factors_behind_a_product_are_the_product_s():
    builder = GraphBuilder("scaled")
    x = builder.input("x", TensorType("float32", (1, 8, 16)))
    weights = builder.constant(np.eye(16, dtype=np.float32))
    factors = builder.constant(np.arange(16, dtype=np.float32).reshape(1, 16))
    scaled = builder.op("mul", factors, builder.op("matmul", x, weights))
    graph = builder.finish({"y": builder.op("add", scaled, x)})
    product, total = find_units(graph).units.values()
    assert isinstance(product, Product)
    assert isinstance(total, Finishing)
    assert np.array_equal(product.linear.weights, np.diag(np.arange(16)))


@pytest.mark.parametrize("first", [True, False])
def test_a_difference_of_two_tensors_is_a_unit(first):
    builder = GraphBuilder("difference")
    x = builder.input("x", TensorType("float32", (1, 8, 16)))
    y = builder.op("matmul", x, builder.constant(np.eye(16, dtype=np.float32)))
    graph = builder.finish({"y": builder.op("sub", *((x, y) if first else (y, x)))})
    product, difference = find_units(graph).units.values()
    assert isinstance(product, Product)
    assert isinstance(difference, Subtraction)
    assert (difference.a.tensor, difference.b.tensor) == ((x, y) if first else (y, x))
    assert {form.role for form in difference.reads()} == {"wide"}


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("read", "second"), [(False, "up"), (True, None)], ids=["alone", "read by others, too"]
)
def test_of_two_factors_a_product_that_nobody_else_reads_is_the_second(turned, read, second):
    """Its channels may be spread: a gate is no product, and is read as it is."""
    builder = GraphBuilder("gated")
    x = builder.input("x", TensorType("float32", (2, 16)))
    weights = builder.constant(np.eye(16, dtype=np.float32))
    gate = builder.op("silu", builder.op("matmul", x, weights), name="gate", alpha=1.0)
    up = builder.op("matmul", x, weights, name="up")
    factors = (up, gate) if turned else (gate, up)
    outputs = {"y": builder.op("mul", *factors, name="both")}
    if read:
        outputs["up"] = builder.op("relu", up)
    unit = find_units(builder.finish(outputs)).units["both"]
    assert isinstance(unit, Multiplication)
    assert {unit.a.tensor, unit.b.tensor} == {"gate", "up"}
    assert unit.b.tensor == (second or factors[1])


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
@pytest.mark.parametrize("op", ["mul", "add"])
def test_a_number_behind_a_product_of_one_column_is_the_product_s(op, shape):
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (5, 3)))
    y = builder.op("matmul", x, builder.constant(np.ones((3, 1), np.float32)))
    y = builder.op(op, y, builder.constant(np.full(shape, 2, np.float32)))
    (unit,) = find_units(builder.finish({"y": y})).units.values()
    assert isinstance(unit, Product)
    assert unit.value.tensor == y


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("first", [True, False])
def test_a_bias_that_is_stored_once_for_each_row_is_the_product_s(same, first):
    row = np.arange(4, dtype=np.float32)
    stored = np.tile(row, (1, 5, 1))
    stored[0, 2, 1] += 0 if same else 1
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, 5, 3)))
    product = builder.op("matmul", x, builder.constant(np.ones((3, 4), np.float32)))
    bias = builder.constant(stored)
    total = builder.op("add", *((bias, product) if first else (product, bias)))
    curve = builder.op("gelu", total, form="erf")
    units = find_units(builder.finish({"y": curve})).units
    assert (curve in units) == same
    unit = units[total]
    assert isinstance(unit, Product if same else Finishing)
    if isinstance(unit, Product):
        np.testing.assert_array_equal(unit.linear.bias, row)


@pytest.mark.parametrize("shape", [(0, 4, 6), (2, 0, 6), (2, 4, 0)])
def test_what_has_no_elements_is_no_unit(shape):
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", shape))
    y = builder.op("matmul", x, builder.constant(np.ones((shape[-1], 3), np.float32)))
    assert not find_units(builder.finish({"y": builder.op("relu", y)})).units.keys() & {y}


def test_heads_of_queries_share_keys():
    _, units = kinds("llama")
    first = next(unit for unit in units if isinstance(unit, Attention)).heads[0]
    assert first[0].key == first[1].key != first[2].key
    assert first[0].query != first[1].query


def test_a_bias_is_added_to_the_scores_of_each_head():
    _, units = kinds("t5-encoder")
    first, second = (unit for unit in units if isinstance(unit, Attention))
    ontos = [[head.onto for head in text] for text in first.heads]
    assert ontos[0] == ontos[1], "all texts have the same"
    assert [(view.row, view.rows, view.col, view.cols) for view in ontos[0] if view] == [
        (0, 16, 16 * head, 16) for head in range(4)
    ]
    mine, other = ontos[0][0], second.heads[0][0].onto
    assert mine is not None
    assert other is not None
    assert other.tensor != mine.tensor, "its scores have other steps"


def attention(*shape):
    """Attention of two texts and two heads, five queries and seven keys, with a bias."""
    builder = GraphBuilder("biased")
    q, k, v = (
        builder.input(name, TensorType("float32", (2, 2, rows, 16)))
        for name, rows in (("q", 5), ("k", 7), ("v", 7))
    )
    bias = builder.input("bias", TensorType("float32", shape))
    attributes = {"scale": 0.25, "causal": False, "first_query": 0}
    return builder.finish({"y": builder.op("attention", q, k, v, bias, **attributes)})


@pytest.mark.parametrize(
    ("shape", "row", "col", "rows"),
    [
        ((2, 2, 5, 7), 5, 7, 5),
        ((1, 1, 5, 7), 0, 7, 5),
        ((5, 7), 0, 7, 5),
        ((2, 1, 1, 7), 1, 7, 1),
        ((2, 1, 7), 0, 7, 1),
    ],
)
def test_a_bias_is_repeated_as_it_broadcasts(shape, row, col, rows):
    (unit,) = find_units(attention(*shape)).units.values()
    assert isinstance(unit, Attention)
    onto = unit.heads[1][1].onto
    assert onto is not None
    assert (onto.row, onto.col, onto.shape) == (row, col, (rows, 7))


def test_a_bias_that_all_keys_share_is_refused():
    assert set(find_units(attention(2, 2, 5, 1)).refusals.values()) == {
        "its bias is not one for each key"
    }


@pytest.mark.parametrize(("cols", "parts"), [(16, 4), (8, 1)])
def test_heads_of_a_product_are_normalized_each_by_itself(cols, parts):
    """Whole tiles are; narrower ones are rows that the host puts below each other."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, 6, 8)))
    made = builder.op("matmul", x, builder.constant(np.ones((8, 4 * cols), np.float32)))
    heads = builder.op("reshape", made, shape=(1, 6, 4, cols))
    heads = builder.op("transpose", heads, permutation=(0, 2, 1, 3))
    gamma = builder.constant(np.ones(cols, np.float32))
    norm = builder.op("rmsnorm", heads, gamma, axis=3, epsilon=1e-5)
    units = find_units(builder.finish({"y": norm})).units
    found = units[norm]
    assert isinstance(found, Normalization)
    assert found.value.heads == (parts > 1)
    assert [(part.x.tensor == made, part.x.col, part.out.col) for part in found.parts] == (
        [(True, head * cols, head * cols) for head in range(parts)]
        if parts > 1
        else [(False, 0, 0)]
    )


@pytest.mark.parametrize("op", ["layernorm", "rmsnorm"])
@pytest.mark.parametrize(("axis", "found"), [(-1, True), (2, True), (1, False), (0, False)])
def test_only_whole_rows_are_normalized(op, axis, found):
    """Behind a product, over the last of three axes, by whichever number it is called."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (1, 16, 16)))
    weights = builder.constant(np.eye(16, dtype=np.float32))
    product = builder.op("matmul", x, weights)
    size = (1, 16, 16)[axis:] if axis >= 0 else (16,)
    gamma = builder.constant(np.ones(size, np.float32))
    y = builder.op(op, product, gamma, axis=axis, epsilon=1e-5)
    units = find_units(builder.finish({"y": builder.op("matmul", y, weights)})).units.values()
    assert any(isinstance(unit, Normalization) for unit in units) is found


def test_every_curve_of_the_accelerator_is_reached_from_onnx():
    """Each operator of ONNX that takes one tensor is put behind a product."""
    reached = set()
    weights = np.eye(6, dtype=np.float32)
    for op in HANDLERS[DEFAULT_DOMAIN]:
        nodes = [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node(op, ["z"], ["y"])]
        try:
            graph = imported(model(nodes, {"x": [5, 6]}, ["y"], {"w": weights}, opset=24)).graph
        except (Refusal, GraphError, ImportProblem, checker.ValidationError):
            continue
        units = find_units(recognize(graph).graph).units.values()
        reached |= {unit.function for unit in units if isinstance(unit, Finishing)}
    assert reached >= {"relu", *ACTIVATIONS}


def texts(*lengths, scales=(0.25,), firsts=None, read_twice=False, axis=0):
    """Attention of each text by itself, whose contexts are put together for a product.

    With `firsts` it is causal, and the first row of each text sees so many keys before its own.
    """
    builder = GraphBuilder("texts")
    x = builder.input("x", TensorType("float32", (sum(lengths), 32)))
    weights = builder.constant(np.eye(32, dtype=np.float32))
    q, k, v = (builder.op("matmul", x, weights, name=name) for name in "qkv")
    contexts, row = [], 0
    for text, tokens in enumerate(lengths):
        parts = []
        for part in (q, k, v):
            size = (tokens, 32)
            rows = builder.op("slice", part, starts=(row, 0), sizes=size, steps=(1, 1))
            rows = builder.op("reshape", rows, shape=(1, tokens, 2, 16))
            parts.append(builder.op("transpose", rows, permutation=(0, 2, 1, 3)))
        found = builder.op(
            "attention",
            *parts,
            scale=scales[text % len(scales)],
            causal=firsts is not None,
            first_query=firsts[text] if firsts else 0,
        )
        found = builder.op("transpose", found, permutation=(0, 2, 1, 3))
        contexts.append(builder.op("reshape", found, shape=(tokens, 32)))
        row += tokens
    below = builder.op("concat", *contexts, name="context", axis=axis)
    behind = builder.constant(np.eye(builder.type(below).shape[1], dtype=np.float32))
    outputs = {"y": builder.op("matmul", below, behind)}
    if read_twice:
        outputs["z"] = builder.op("tanh", contexts[0])
    return builder.finish(outputs)


def host_operators(graph):
    levels = plan_segments(graph, find_units(graph)).host
    return [node.op for level in levels for node in level]


def attentions(graph):
    return [unit for unit in find_units(graph).units.values() if isinstance(unit, Attention)]


def test_contexts_of_texts_below_each_other_are_one_attention():
    (unit,) = attentions(texts(3, 1, 4))
    assert unit.value.tensor == "context"
    assert [heads[0].query.rows for heads in unit.heads] == [3, 1, 4]
    assert [[head.out.row for head in heads] for heads in unit.heads] == [[0, 0], [3, 3], [4, 4]]
    assert [[head.out.col for head in heads] for heads in unit.heads] == [[0, 16]] * 3
    assert {head.out.tensor for heads in unit.heads for head in heads} == {unit.value.key}
    assert host_operators(texts(3, 1, 4)) == []


def test_each_text_of_an_attention_has_a_mask_of_its_own():
    (unit,) = attentions(texts(3, 1, 4, firsts=(0, 0, 2)))
    masks = [{head.mask for head in heads} for heads in unit.heads]
    causal = [Mask(causal=True, first_row=first) for first in (0, 2)]
    assert masks == [{causal[0]}, {Mask()}, {causal[1]}], "a row that sees all keys has none"
    assert {head.first_row for heads in attentions(texts(3))[0].heads for head in heads} == {None}


@pytest.mark.parametrize(
    "graph",
    [
        texts(3, 4, scales=(0.25, 0.5)),
        texts(3, 4, read_twice=True),
        texts(4, 4, axis=1),
    ],
    ids=["another scale", "a part is read", "beside each other"],
)
def test_contexts_that_differ_or_are_read_alone_are_put_together_by_the_host(graph):
    assert len(attentions(graph)) == 2
    assert host_operators(graph).count("concat") == 1


@pytest.mark.parametrize("heads", [1, 2])
@pytest.mark.parametrize("known", ["query", "keys", "values"])
def test_attention_of_something_known_is_on_the_accelerator(known, heads):
    """Latents and slots of a memory: constants are operands like others, 25 dB from floats."""
    rows, width = 6, 16
    nodes, constants = [], {}
    for seed, name in enumerate(("query", "keys", "values")):
        if name == known:
            constants[name] = floats(1, heads, rows, width // heads, seed=seed)
            continue
        constants[f"w.{name}"] = floats(width, width, seed=seed) / 4
        nodes += [
            helper.make_node("MatMul", ["x", f"w.{name}"], [f"{name}.flat"]),
            helper.make_node("Reshape", [f"{name}.flat", "apart"], [f"{name}.apart"]),
            helper.make_node("Transpose", [f"{name}.apart"], [name], perm=[0, 2, 1, 3]),
        ]
    nodes += [
        helper.make_node("Transpose", ["keys"], ["turned"], perm=[0, 1, 3, 2]),
        helper.make_node("MatMul", ["query", "turned"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["weights"], axis=-1),
        helper.make_node("MatMul", ["weights", "values"], ["context"]),
        helper.make_node("Transpose", ["context"], ["back"], perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["back", "together"], ["y"]),
    ]
    constants["apart"] = np.array([1, rows, heads, width // heads])
    constants["together"] = np.array([1, rows, width])
    graph = recognize(imported(model(nodes, {"x": [1, rows, width]}, ["y"], constants)).graph).graph
    assert graph.macs().keys() <= find_units(graph).nodes
    samples = [{"x": floats(1, rows, width, seed=seed)} for seed in range(8)]
    given = {"x": floats(1, rows, width, seed=9)}
    found = run_model(quantize_graph(graph, samples), given).outputs["y"]
    wanted = interpret(graph, given)["y"]
    assert np.square(found - wanted).sum() < np.square(wanted).sum() * 10**-2.5
