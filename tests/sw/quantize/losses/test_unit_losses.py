"""What units lose alone adds up to what the model loses, and a planted loss is that of its unit."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.visible_rows import interpret_visibly
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.quantize.losses.unit_losses import Losses
from celosia.sw.quantize.units.stored import units_of
from tests.sim.run.models.dense_layer import layer
from tests.support.quantized_exports import inputs, quantized, recognized
from tests.support.quantized_graph import quantize_graph

ROWS, WIDTH = 24, 16


def losses_of(graph, model, given):
    return Losses(graph, units_of(graph, model.apart), model, given)


def noise(real, found):
    return float(np.square(real.astype(np.float64) - found).sum())


def test_the_error_of_the_only_unit_is_that_of_the_model():
    graph = recognize(layer()).graph
    random = np.random.default_rng(0)
    samples = [{"x": random.standard_normal((4, 8), np.float32)} for _ in range(9)]
    model, given = quantize_graph(graph, samples[1:]), samples[0]
    losses = losses_of(graph, model, given)
    (error,) = losses.errors()
    expected = run_model(model, given).outputs["y"]
    np.testing.assert_allclose(losses.outputs(error, ["y"])["y"], expected, atol=1e-6)
    assert losses.cost(error.tensor) == 0  # Nothing is behind it.


def chain(seed):
    """Three products with a ReLU each, in integers, and an input that they were not made for."""
    random, builder = np.random.default_rng(seed), GraphBuilder("chain")
    x = builder.input("x", TensorType("float32", (ROWS, WIDTH)))
    for number in range(3):
        weights = builder.constant(random.standard_normal((WIDTH, WIDTH), np.float32) / 4)
        with builder.origin(f"layer.{number} (MatMul)"):
            x = builder.op("matmul", x, weights)
        with builder.origin(f"relu.{number} (Relu)"):
            x = builder.op("relu", x)
    graph = recognize(builder.finish({"y": x})).graph
    samples = [{"x": random.standard_normal((ROWS, WIDTH), np.float32)} for _ in range(9)]
    return graph, quantize_graph(graph, samples[1:]), samples[0]


def noises(graph, model, given):
    """What the output loses by each unit alone, by its node."""
    losses, (real,) = losses_of(graph, model, given), interpret(graph, given).values()
    (output,) = graph.outputs
    return {
        each.node: noise(real, losses.outputs(each, [output])[output]) for each in losses.errors()
    }


@pytest.mark.parametrize("seed", range(4))
def test_noises_of_units_add_up_to_that_of_the_model(seed):
    graph, model, given = chain(seed)
    whole = noise(interpret(graph, given)["y"], run_model(model, given).outputs["y"])
    # A small error that turns some roundings of its unit's result counts more than it is.
    assert 0.7 < sum(noises(graph, model, given).values()) / whole < 2


@pytest.mark.parametrize("name", ["bert-17", "vit", "gpt2", "t5-encoder"])
def test_each_unit_alone_loses_little_of_exports(name):
    graph, model, given = recognized(name), quantized(name), inputs(name, 11)
    reals, counts = interpret_visibly(graph, given)
    losses, (output,) = losses_of(graph, model, given), graph.outputs
    real, rows = reals[output], counts[output]
    found = [losses.outputs(each, [output])[output] for each in losses.errors()]
    shown, most = rows.visible, 10**-1.2 * np.square(real).sum()
    assert len(found) > 10
    assert all(noise(real[shown], each[shown]) < most for each in found)


def test_a_planted_loss_is_that_of_its_unit():
    graph, model, given = chain(3)
    (segment,) = model.segments
    name = next(
        each
        for each in segment.graph.constants
        if each.endswith("weights") and segment.node(each).startswith("relu.1")
    )
    segment.graph.constants[name][...] = segment.graph.constants[name] // 16 * 16
    found = noises(graph, model, given)
    assert list(found) == [f"layer.{number} (MatMul)" for number in range(3)]
    assert found["layer.1 (MatMul)"] > 20 * (found["layer.0 (MatMul)"] + found["layer.2 (MatMul)"])
