"""Scores as calibration sees them, and what becomes of rows that are moved as a whole."""

from dataclasses import replace

import numpy as np
import pytest
from onnx.helper import make_node as node

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.ir.graph import DeferredSoftmax, MatMul
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.exact import exact
from celosia.sw.quantize.graphs.observe import Observed, SeenAttention, Watched, observe
from celosia.sw.quantize.graphs.quantized import instantiate, interpreted, run_model
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.units import Attention
from celosia.sw.quantize.units.values import Value
from tests.support.quantized_graph import quantize_graph
from tests.sw.frontend.importer.models import imported, model

WIDTH = 16
HIDDEN = -1e4


def attention(tokens: int):
    """One head whose scores have an additive mask, recognized."""
    random = np.random.default_rng(tokens)
    weights = {
        name: (random.standard_normal((WIDTH, WIDTH)) / WIDTH**0.5).astype(np.float32)
        for name in ("wq", "wk", "wv")
    }
    nodes = [
        node("MatMul", ["x", "wq"], ["q"]),
        node("MatMul", ["x", "wk"], ["k"]),
        node("MatMul", ["x", "wv"], ["v"]),
        node("Transpose", ["k"], ["kt"], perm=[1, 0]),
        node("MatMul", ["q", "kt"], ["products"]),
        node("Mul", ["products", "scale"], ["scaled"]),
        node("Add", ["scaled", "mask"], ["scores"]),
        node("Softmax", ["scores"], ["p"], axis=-1),
        node("MatMul", ["p", "v"], ["y"]),
    ]
    constants = weights | {"scale": np.float32(WIDTH**-0.5)}
    inputs = {"x": (tokens, WIDTH), "mask": (tokens, tokens)}
    return recognize(imported(model(nodes, inputs, ["y"], constants)).graph).graph


def given(tokens: int, seed: int, moved: float) -> dict[str, np.ndarray]:
    """Rows that see a third of the keys, whose scores have something in common."""
    random = np.random.default_rng(seed)
    hidden = random.random((tokens, tokens)) < 2 / 3
    hidden[:, 0] = False
    x = random.standard_normal((tokens, WIDTH))
    return {
        "x": x.astype(np.float32),
        "mask": np.where(hidden, HIDDEN, moved).astype(np.float32),
    }


def test_scores_are_those_that_the_operator_adds_up_inside():
    graph = attention(8)
    units = find_units(graph)
    (unit,) = (unit for unit in units.units.values() if isinstance(unit, Attention))
    seen, inputs = SeenAttention(unit, units.values), given(8, 1, -40)
    tensors = {**graph.constants, **inputs}
    interpret(graph, inputs, tensors.__setitem__)
    assert seen.tensors <= tensors.keys()
    (((found, weighed),),) = [[*seen.scores(tensors)]]
    np.testing.assert_allclose(weighed, inputs["x"] @ graph.constants["wv"], rtol=1e-5, atol=1e-5)
    q, k = (inputs["x"] @ graph.constants[name] for name in ("wq", "wk"))
    want = q @ k.T / WIDTH**0.5 + inputs["mask"]
    np.testing.assert_allclose(found, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("tokens", [24, 272])
@pytest.mark.parametrize("moved", [0, -40, 40])
def test_rows_that_are_moved_do_not_see_hidden_keys(tokens, moved):
    """Short rows and long ones, whose scores may wait in memory only if they are within int16."""
    graph = attention(tokens)
    samples = [given(tokens, seed, moved) for seed in range(4)]
    quantized = quantize_graph(graph, samples)
    (scores,) = (
        op.finish
        for segment in quantized.segments
        for op in segment.graph.ops
        if isinstance(op, MatMul) and isinstance(op.finish, DeferredSoftmax)
    )
    assert scores.stored == (tokens > 256 and moved == 0)
    inputs = given(tokens, 9, moved)
    (real,) = interpret(graph, inputs).values()
    result = run_model(quantized, inputs, interpreted)
    (best,) = run_model(quantized, inputs, exact(quantized)).outputs.values()
    (found,) = result.outputs.values()
    assert noise(real, found) > 27
    assert noise(real, best) - noise(real, found) < 1
    assert not result.clipped


def test_a_run_beyond_its_calibration_says_how_many_scores_lost_their_weight():
    graph = attention(272)
    quantized = quantize_graph(graph, [given(272, seed, 0) for seed in range(4)])
    assert not run_model(quantized, given(272, 9, 0)).clipped
    clipped = run_model(quantized, given(272, 9, -40)).clipped
    assert sum(clipped.values()) > 272


def test_calibration_says_that_scores_saturate():
    samples = [given(24, seed, 9000) for seed in range(2)]
    (note,) = quantize_graph(attention(24), samples).notes
    assert "beyond 8,192 they saturate" in note
    assert not quantize_graph(attention(24), [given(24, 0, 1000)]).notes


def noise(real, found):
    return 10 * np.log10(np.square(real).sum() / np.square(real - found).sum())


def test_numerators_of_long_rows_are_dithered_where_that_helps():
    """Scores are spread by a bias that has nothing to do with the values, as in docs/adr/0012."""

    def spread(seed):
        random = np.random.default_rng(seed)
        x, bias = random.standard_normal((640, WIDTH)), random.normal(0, 2, (640, 640))
        return {"x": (x / 2).astype(np.float32), "mask": bias.astype(np.float32)}

    graph, inputs = attention(640), spread(9)
    formats = calibrate(lambda _: graph, [spread(0)])
    assert formats.dithered == {"attention"}
    (real,) = interpret(graph, inputs).values()
    gained, lost = (
        noise(real, *run_model(instantiate(graph, each), inputs).outputs.values())
        for each in (formats, replace(formats, dithered=frozenset()))
    )
    assert gained > lost + 1


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_the_largest_of_a_column_is_that_of_all_samples_in_any_order(order):
    samples = [[[1, -5], [0, 2]], [[-3, 2]], [[2, 4]]]
    seen = Observed([Value("x")], 10)
    for number in order:
        seen.take(number, "x", np.array(samples[number], np.float32))
        seen.take(number, "another", np.array([[np.nan]]))
    assert seen.tops("x").tolist() == [3, 5]
    wanted = [row for number in order for row in samples[number]]
    assert seen.rows("x").tolist() == wanted


@pytest.mark.parametrize(("largest", "kept"), [(1e-24, True), (-2e-25, True), (9e-26, False)])
def test_numbers_count_as_0_where_their_step_would_be_no_float32(largest, kept):
    """1e-25 / 127 is 8e-28, and a product of two such steps is no float32 (1e-45 is the least)."""
    seen = Observed([Value("x")], 10)
    seen.take(0, "x", np.array([[largest, largest / 8]], np.float32))
    assert bool(seen.tops("x").any()) is kept
    assert bool(seen.rows("x").any()) is kept
    assert seen.tops("x").tolist() == np.abs(seen.rows("x")[0]).tolist()


@pytest.mark.parametrize(("samples", "rows"), [(1, 4096), (2, 2048), (3, 1365)])
def test_of_all_samples_together_4096_rows_are_kept(samples, rows):
    """But what is largest is that of all rows, kept or not."""
    builder = GraphBuilder("g")
    x = builder.input("x", TensorType("float32", (5000, 1)))
    watched = Watched(builder.finish({"y": x}), [], [])
    array = np.linspace(0, 1, 5000, dtype=np.float32)[:, np.newaxis]
    few = {"x": array}, {"x": array[::-1]}
    seen = observe([Value("x")], [(watched, few[n % 2]) for n in range(samples)])
    assert len(seen.rows("x")) == rows * samples
    assert seen.tops("x").tolist() == [1]
    assert len({*seen.rows("x")[:, 0].tolist()}) > rows // 2
