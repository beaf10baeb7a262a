"""Decisions by predicted cycles."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.run.measure_graph import measure_graph
from celosia.sw.compiler import plan as plan_module
from celosia.sw.compiler.pipeline import compile_graph
from celosia.sw.compiler.plan import choose, plan_graph, plan_product, probe_graph, product_tiles
from celosia.sw.ir.graph import MatMul as GraphProduct
from celosia.sw.ir.graph_verify import verify
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models import cases
from celosia.sw.models.decoder import decoder_graph
from celosia.sw.models.decoder_shape import Text
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.problems import graph_of
from celosia.sw.reference.encoder import EncoderShape
from tests.sw.models.decoder_runs import model

TINY, BASE = PRESETS["tiny"], PRESETS["base"]
SHAPE = EncoderShape(layers=2, width=16, heads=4, hidden=32)


def layer(*lengths):
    return cases.encoder_layer_case(cases.random_quantized_encoder(SHAPE, 0), lengths, 0).graph


def test_what_is_chosen_costs_no_more_than_what_was_searched():
    graph = layer(7, 5)
    found = plan_graph(graph, TINY)
    assert not found.scaled
    assert found.choices == choose(graph, TINY)
    for each in found.rejected:
        if each.name in ("piece_tiles", "block_tiles", "overlap") and each.cycles is not None:
            assert found.prediction.cycles <= each.cycles * 1.05


def test_every_alternative_is_listed():
    found = plan_graph(layer(5), TINY)
    listed = {(each.name, each.value) for each in found.rejected}
    assert len(listed) == len(list(found.choices.others())) == 12
    assert {name for name, _ in listed} == {name for name, _ in found.choices.items()}


def test_long_graphs_take_the_defaults(monkeypatch):
    monkeypatch.setattr(plan_module, "SEARCHED_TILES", 0)
    assert choose(layer(7, 5), TINY) == DEFAULT


def test_a_probe_has_few_operators_of_a_kind_and_few_rows():
    graph = layer(40, 40, 40, 40)
    probe = probe_graph(graph, TINY)
    assert len(probe.ops) < len(graph.ops) / 3
    assert product_tiles(probe, TINY) < product_tiles(graph, TINY) / 3
    assert {type(op) for op in probe.ops} == {type(op) for op in graph.ops}


def test_a_probe_has_few_columns_of_a_vocabulary():
    decoder = model("opt", layers=1)
    vocabulary = np.zeros((decoder.shape.width, 1000), np.int8)
    tensors = {**decoder.tensors, "vocabulary.weights": vocabulary}
    graph = decoder_graph(replace(decoder, tensors=tensors), [Text(3)], 4)
    last = probe_graph(graph, TINY).ops[-1]
    assert isinstance(last, GraphProduct)
    assert last.out.cols == last.b.cols == 192 * TINY.dim


@pytest.mark.slow
def test_alternatives_of_long_graphs_are_scaled(monkeypatch):
    graph = layer(20, 20)
    full = plan_graph(graph, TINY)
    monkeypatch.setattr(plan_module, "COMPARED_TILES", 0)
    scaled = plan_graph(graph, TINY)
    assert scaled.scaled
    assert scaled.prediction == full.prediction
    for one, other in zip(full.rejected, scaled.rejected, strict=True):
        if one.cycles is not None and other.cycles is not None:
            assert other.cycles == pytest.approx(one.cycles, rel=0.25)


@pytest.mark.parametrize("choices", [choices for *_, choices in DEFAULT.others()], ids=str)
def test_every_choice_computes_the_same(choices):
    case = cases.encoder_layer_case(cases.random_quantized_encoder(SHAPE, 0), [9, 6], 0)
    verify(case.graph)
    device = FunctionalDevice(TINY, memory_bytes=1 << 20)
    compiled = compile_graph(case.graph, TINY, choices=choices)
    assert measure_graph("x", device, compiled, case).whole.right


def test_choices_say_what_they_are():
    assert str(Choices(piece_tiles=1)).startswith("block_tiles 4, piece_tiles 1, fused_norms True")


def test_a_product_lists_the_cheapest_plan_with_each_other_value():
    problem = MatMul(m=128, n=128, k=128, scale=0.01, bias=True)
    found = plan_product(graph_of("product", problem), BASE)
    assert found.cycles == pytest.approx(8418, rel=0.01)
    names = {each.name for each in found.rejected}
    assert {"block_rows", "block_tiles", "last_block"} <= names
    assert all(each.cycles is not None and each.cycles > 8000 for each in found.rejected)
