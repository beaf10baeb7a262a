"""Costs are those of the timeline, and what is found computes the same."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.graphs.rewritable import Sizes, adapter, packed_classifier, twins
from celosia.lab.substitute.optimize import (
    differing_floats,
    differing_integers,
    optimize_floats,
    optimize_integers,
    optimize_model,
)
from celosia.lab.substitute.rules import RULES
from celosia.sim.workloads.models.prepare import ModelRun, prepare
from celosia.sw.compiler.choose import choices_by_rows
from celosia.sw.compiler.costs import Costs, host_cycles
from celosia.sw.compiler.passes import predict
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.models.cases import attention_case
from celosia.sw.models.steps import Model
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.quantize.graphs.sketch import sketch
from tests.support.plain_models import save_perceptron
from tests.support.rewritable import rewritable_graph

TINY = resolve_config("tiny")
TIMING = MemoryTiming()
SIZES = Sizes(layers=1, width=32, heads=2, hidden=32, tokens=6, rank=4, classes=4)


@pytest.fixture(scope="module")
def costs():
    return Costs(TINY, TIMING)


def test_recognizers_and_substitutions_are_one_list():
    levels = [rule.level.name for rule in RULES.values()]
    assert levels == sorted(levels, reverse=True)
    assert {"attention", "merge-sums", "drop-unread"} <= RULES.keys()


def test_the_cost_of_a_graph_is_near_what_the_timeline_says_of_all_of_it(costs):
    for graph in (attention_case(2, 12, 8, 0).graph, sketch(adapter(SIZES))[0][0]):
        whole = predict(graph, TINY, choices_by_rows(graph, TINY), TIMING).cycles
        assert abs(costs.integer(graph) - whole) <= 0.06 * whole


def test_what_is_left_to_the_host_costs_something():
    kind = TensorType("float32", (2, 3))
    nodes = [Node(name="x", op=op, inputs=(), type=kind) for op in ("add", "concat", "reshape")]
    assert [host_cycles([node]) for node in nodes] == [288, 6, 0]


def test_integers_stay_the_same_and_cost_no_more(costs):
    graph = rewritable_graph(1)
    found = optimize_integers(graph, costs, budget=4)
    assert found.found.cost <= found.cost_before
    assert differing_integers(graph, found.graph, 3) is None


@pytest.mark.parametrize("way", ["search", "greedy"])
def test_a_graph_that_is_cheaper_by_less_than_errors_of_prediction_stays_as_it_is(
    way, costs, monkeypatch
):
    graph = rewritable_graph(1)
    for fixed, kept in ((0, False), (100 * len(graph.ops), True)):
        monkeypatch.setattr(costs, "integer", lambda of: len(of.ops))
        monkeypatch.setattr(costs, "whole", lambda of, fixed=fixed: fixed + len(of.ops))
        found = optimize_integers(graph, costs, way=way, budget=4)
        assert (found.found.steps == ()) == kept
        assert (found.found.cost == found.cost_before) == kept


def test_search_folds_adapters_that_greedy_leaves(costs):
    graph = recognize(adapter(SIZES)).graph
    search, greedy = (optimize_floats(graph, costs, way=way) for way in ("search", "greedy"))
    assert sum(search.graph.macs().values()) < sum(graph.macs().values())
    assert search.found.cost < greedy.found.cost
    assert differing_floats(graph, search.graph, random_inputs(graph, [], 1)) is None


@pytest.mark.parametrize(
    ("make", "tokens"),
    [pytest.param(packed_classifier, 6, marks=pytest.mark.nightly), (twins, 3)],
)
def test_a_rewritten_model_is_as_near_to_its_float_graph(make, tokens, costs):
    model = Model.of(recognize(make(replace(SIZES, tokens=tokens))))
    samples = [random_inputs(model.recognized.graph, [], seed) for seed in range(3)]
    found = optimize_model(model, samples, costs)
    assert found.steps
    outputs = run_model(found.model.quantized, samples[0]).outputs
    greedy = optimize_model(model, samples, costs, way="greedy").model.quantized
    expected = run_model(greedy, samples[0])
    for name, value in outputs.items():
        assert np.abs(value - expected.outputs[name]).max() <= 0.2 * np.abs(value).max()


def test_a_rewritten_model_is_clipped_as_it_is_asked_for(costs):
    """Its formats are those of the graph that was found, by the same criterion."""
    model = Model.of(recognize(twins(replace(SIZES, tokens=3))))
    samples = [random_inputs(model.recognized.graph, [], seed) for seed in range(3)]
    usual, again, other = (
        [each.graph.tensors for each in found.model.quantized.segments]
        for clip in ("error", "error", "minmax")
        for found in [optimize_model(model, samples, costs, way="greedy", clip=clip)]
    )
    assert usual == again != other


def test_the_criterion_of_a_run_is_that_of_its_rewriting(tmp_path, monkeypatch, costs):
    given = {}

    def rewrite(*_, **options):
        given.update(options)
        raise ValueError("that is all")

    monkeypatch.setattr("celosia.sim.workloads.models.prepare.rewriting", lambda level: rewrite)
    save_perceptron(tmp_path / "m.onnx")
    with pytest.raises(ValueError, match="that is all"):
        prepare(ModelRun(tmp_path / "m.onnx", {}, clip="minmax", costs=costs), 0)
    assert given["clip"] == "minmax"
