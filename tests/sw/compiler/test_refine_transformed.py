"""Products that transforms finish: each decision is taken with all others as they are."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.passes import predict
from celosia.sw.compiler.refine_transformed import refine_transformed
from celosia.sw.ir.graph import Activation, Requantize
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.forms.plan import only_stage
from tests.sw.planning.test_finish import finished
from tests.sw.scheduling.test_product import check

FINISHES = [(Requantize(0.01), "int16"), (Activation("gelu", 0.01, 0.01), "int8")]


@pytest.mark.parametrize(("preset", "shape"), [("base", (40, 30, 20)), ("tiny", (9, 7, 5))])
@pytest.mark.parametrize(("finish", "out"), FINISHES, ids=["int16", "gelu"])
def test_a_refined_plan_computes_the_same_in_no_more_cycles(preset, shape, finish, out):
    config, (graph, values) = resolve_config(preset), finished(finish, out, *shape)
    decided = decide(graph, config)
    refined = refine_transformed(decided, graph, config)
    cycles = [predict(graph, config, plan).cycles for plan in (decided, refined)]
    assert cycles[1] <= cycles[0]
    check(refined, graph, values, config)


def test_a_short_product_is_as_fast_as_the_best_plan_that_was_found_otherwise():
    """The best plan of 99, drawn and improved by other decisions, took 1,755 cycles on the RTL."""
    config, (graph, _) = resolve_config("base"), finished(Requantize(0.01), "int16", 64, 64, 64)
    refined = refine_transformed(decide(graph, config), graph, config)
    assert predict(graph, config, refined).cycles < 1_755


def test_a_long_product_keeps_its_plan():
    config = resolve_config("base")
    graph, _ = finished(Requantize(0.01), "int16", 512, 256, 256)
    plan = decide(graph, config)
    assert only_stage(plan).drain.by == "transform"
    assert refine_transformed(plan, graph, config) is plan
