"""Choices by predicted cycles."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.run.checks import checked_graph
from celosia.sw.compiler import choose as choose_module
from celosia.sw.compiler import descent as descent_module
from celosia.sw.compiler.choose import choices_by_rows, choose
from celosia.sw.compiler.passes import planned
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph_verify import verify
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models import cases
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.forms.stages import LinearStage
from celosia.sw.planning.forms.text import parse_plan, print_plan
from celosia.sw.planning.problems import graph_of
from celosia.sw.reference.encoder import EncoderShape

TINY = PRESETS["tiny"]
SHAPE = EncoderShape(layers=2, width=16, heads=4, hidden=32)


def case(*lengths):
    return cases.encoder_layer_case(cases.random_quantized_encoder(SHAPE, 0), lengths, 0)


def test_long_graphs_take_the_defaults(monkeypatch):
    monkeypatch.setattr(choose_module, "SEARCHED_TILES", 0)
    assert choose(case(7, 5).graph, TINY) == DEFAULT


@pytest.mark.parametrize("choices", [choices for *_, choices in DEFAULT.others()], ids=str)
def test_every_choice_computes_the_same(choices):
    layer = case(9, 6)
    verify(layer.graph)
    device = FunctionalDevice(TINY, memory_bytes=1 << 20)
    compiled = compile_graph(layer.graph, TINY, Decide(choices))
    assert checked_graph("x", device, compiled, layer).whole.right


def test_choices_say_what_they_are():
    assert str(Choices(piece_tiles=1)).startswith("block_tiles 4, piece_tiles 1, fused_norms True")


@pytest.mark.parametrize(("rows", "by_need"), [(1, True), (8, True), (9, False), (64, False)])
def test_loads_are_scheduled_by_need_up_to_twice_the_rows_of_the_array(rows, by_need):
    """The array has four rows."""
    graph = graph_of("product", MatMul(m=rows, n=4, k=4, scale=0.01))
    assert choices_by_rows(graph, TINY) == Choices(schedule_loads=by_need)
    assert choices_by_rows(replace(graph, ops=()), TINY) == DEFAULT


@pytest.mark.parametrize(("cycles", "fused"), [(99, True), (98, False)])
def test_a_norm_is_apart_if_that_gains_one_percent(monkeypatch, cycles, fused):
    def cost(*_):
        def of(plan):
            linear = (stage for stage in plan.stages if isinstance(stage, LinearStage))
            return 100 if any(stage.norm for stage in linear) else cycles

        return of

    monkeypatch.setattr(choose_module, "PlanCosts", cost)
    assert choose(case(9, 6).graph, TINY) == Choices(fused_norms=fused)


@pytest.mark.parametrize(("cycles", "gains"), [(99, False), (98, True)])
@pytest.mark.parametrize("what", ["schedule_loads", "results_stay"])
def test_loads_go_by_need_and_results_stay_if_that_gains_one_percent(
    monkeypatch, what, cycles, gains
):
    def cost(*_):
        def of(plan):
            by_need, stay = plan.scheduler == "need", len(plan.rings["bytes"].spans) == 2
            return cycles if (by_need if what == "schedule_loads" else stay) else 100

        return of

    monkeypatch.setattr(choose_module, "PlanCosts", cost)
    assert choose(case(9, 6).graph, TINY) == Choices(**{what: gains})


def test_results_of_a_part_of_the_rows_tell_nothing_of_where_all_may_stay(monkeypatch):
    followed = []

    def cost(*_):
        return lambda plan: followed.append(plan) or 100

    monkeypatch.setattr(choose_module, "PlanCosts", cost)
    assert choose(case(20, 20).graph, TINY) == DEFAULT  # A probe has 32 rows of 40.
    assert {len(plan.rings["bytes"].spans) for plan in followed} == {1}


def test_what_gains_only_together_is_found(monkeypatch):
    together = Choices(results_stay=True, schedule_loads=True, block_tiles=2)
    layer = case(9, 6).graph
    wanted = planned(layer, TINY, together)
    monkeypatch.setattr(choose_module, "PlanCosts", lambda *_: lambda plan: 1 + (plan != wanted))
    assert choose(layer, TINY) == together


def test_choices_that_come_to_the_same_plan_are_followed_once(monkeypatch):
    followed = []

    def predict(graph, config, plan, *_):
        followed.append(plan)
        return SimpleNamespace(cycles=100)

    monkeypatch.setattr(descent_module, "predict", predict)
    layer = case(3, 1).graph
    assert choose(layer, TINY) == Choices(schedule_loads=True)
    assert all(plan != other for n, plan in enumerate(followed) for other in followed[:n])
    lower = planned(layer, TINY, Choices(schedule_loads=True, block_tiles=1))
    assert lower == followed[0]


NEED = Choices(schedule_loads=True)


@pytest.mark.parametrize("spare", [0, 16, 32])
def test_each_spare_computes_the_same_and_stands_in_the_plan(spare):
    layer = case(3, 2)
    device = FunctionalDevice(TINY, memory_bytes=1 << 20)
    compiled = compile_graph(layer.graph, TINY, Decide(replace(NEED, spare_tiles=spare)))
    assert compiled.plan.spare_tiles == spare
    assert parse_plan(print_plan(compiled.plan)) == compiled.plan
    assert checked_graph("x", device, compiled, layer).whole.right
