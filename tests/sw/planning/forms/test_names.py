"""Names of a part of a plan, wherever in it they are."""

from celosia.isa.presets import resolve_config
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.decisions.decide import decide
from celosia.sw.planning.forms.names import names_in
from tests.sw.scheduling.products import product_graph


def test_strings_of_tuples_and_of_fields_are_names_and_numbers_are_none():
    assert names_in((("a", 1), (("b", None), "a"), 2.5)) == ["a", "b", "a"]
    assert names_in(3) == []


def test_a_stage_names_its_operator_and_all_rings_of_its_plan():
    graph, _ = product_graph(MatMul(m=20, n=30, k=10, bias=True, scale=0.01))
    plan = decide(graph, resolve_config("tiny"))
    assert {*plan.rings, graph.ops[0].name} <= {*names_in(plan.stages[0])}


def test_words_of_a_fixed_set_are_no_names():
    graph, _ = product_graph(MatMul(m=20, n=30, k=10, bias=True, scale=0.01))
    plan = decide(graph, resolve_config("tiny"))
    assert {*names_in(plan.stages[0])} <= {*plan.rings, graph.ops[0].name, ""}
