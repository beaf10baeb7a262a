"""What stores finish of a model is the accelerator's, the rest is the host's."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.ir.graph import MatMul, Requantize, Sums
from celosia.sw.planning.finish import beyond_stores
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.quantized import instantiate, run_model
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.units.units import Finishing, Product
from tests.support.plain_models import perceptron
from tests.support.quantized_exports import inputs, recognized


def test_all_units_are_there_unless_stores_finish_everything():
    graph = recognized("bert-17")
    assert units_of(graph).units.keys() == find_units(graph).units.keys()
    stored = units_of(graph, per_tensor=True)
    assert {type(unit) for unit in stored.units.values()} == {Product}
    assert len(stored.units) == len(find_units(graph).of(Product))
    attention = next(node for node in graph.nodes if node.op == "attention")
    assert stored.reason(attention) == "stores finish no more than products with a ReLU"


def test_a_relu_is_a_unit_only_where_products_alone_read_it():
    graph = perceptron()
    assert len(units_of(graph, per_tensor=True).of(Finishing)) == 1
    assert not units_of(perceptron("hardswish"), per_tensor=True).of(Finishing)
    relu = next(node for node in graph.nodes if node.op == "relu")
    both = replace(graph, outputs={**graph.outputs, "hidden": relu.name})
    assert not units_of(both, per_tensor=True).of(Finishing)


@pytest.mark.parametrize("name", ["bert-17", "llama", "perceptron"])
def test_stores_finish_all_segments_of_a_model_with_one_scale(name):
    graph = perceptron() if name == "perceptron" else recognized(name)
    samples = [
        random_inputs(graph, [], seed) if name == "perceptron" else inputs(name, seed)
        for seed in range(4)
    ]
    formats = calibrate(lambda _: graph, samples, per_tensor=True)
    assert all(np.ptp(each.steps) == 0 for each in formats.integers.values())
    model = instantiate(graph, formats)
    for segment in model.segments:
        assert list(beyond_stores(segment.graph)) == []
        for op in segment.graph.ops:
            assert isinstance(op, MatMul)
            assert isinstance(op.finish, Sums | Requantize)
    found, real = run_model(model, samples[0]).outputs, interpret(graph, samples[0])
    for output, array in real.items():
        error = np.linalg.norm(found[output] - array) / np.linalg.norm(array)
        assert error < 10 ** (-16 / 20), output
    assert instantiate(graph, calibrate(lambda _: graph, samples)).segments
