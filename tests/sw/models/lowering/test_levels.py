"""What each step leaves, and that it is what the compiler's passes leave."""

from dataclasses import replace
from typing import Any

import pytest

from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import matmul_case
from celosia.sw.models.lowering.levels import checked, decided
from tests.sw.models.lowering.levels_of import CONFIG, TIMING, model_levels, product_levels


def test_commands_are_those_that_compile_graph_makes():
    graph, plans, _, ordered, commands = product_levels()
    compiled = compile_graph(graph, CONFIG, timing=TIMING)
    assert plans.graphs[0].plan == compiled.plan
    assert ordered.graphs[0].ops == compiled.ops
    assert commands.graphs[0].program == compiled.program
    assert commands.graphs[0].addresses == compiled.addresses
    assert commands.graphs[0].end == compiled.end


def test_each_level_has_what_the_next_needs_and_no_more():
    _, plans, programs, ordered, commands = product_levels()
    assert [each.level for each in (plans, programs, ordered, commands)] == [
        "cel.plan",
        "cel.program",
        "cel.program",
        "commands",
    ]
    (plan,), (program,), (last,) = plans.graphs, programs.graphs, commands.graphs
    assert plan.plan.stages
    assert not plan.ops
    assert program.plan == plan.plan
    assert program.ops
    assert not program.program
    assert not last.plan.stages
    assert not last.ops
    assert not last.commands
    assert last.program


def test_a_schedule_only_changes_the_order():
    _, _, programs, ordered, _ = product_levels()
    before, after = (sorted(str(each.op) for each in v.graphs[0].ops) for v in (programs, ordered))
    assert before == after


def test_the_model_around_has_the_graphs_of_the_level():
    for value in model_levels()[1:]:
        assert value.model is not None
        assert [each.graph for each in value.graphs] == [
            segment.graph for segment in value.model.segments
        ]


def test_scales_become_as_short_as_the_accelerator_takes_them():
    short = replace(CONFIG, scale_bits=8)
    model, *_ = model_levels()
    (segment, *_), (before, *_) = checked(model, short).segments, model.segments
    assert segment.graph.ops != before.graph.ops or any(
        (segment.graph.constants[name] != value).any()
        for name, value in before.graph.constants.items()
    )


def test_a_text_says_nothing_of_the_memory_that_a_plan_was_chosen_for():
    assert product_levels()[1].graphs[0].timing is None


def test_what_the_accelerator_cannot_do_is_named():
    graph = matmul_case(4, 8, 8, 0).graph
    product: Any = graph.ops[0]
    wrong = replace(graph, ops=(replace(product, a=product.b),))
    with pytest.raises(ValueError, match=product.name):
        decided(wrong, CONFIG, TIMING)
