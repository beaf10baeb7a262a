"""Pictures of plans: rings where their rows are, and every stage."""

from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import attention_case
from celosia.sw.planning.forms.picture import plan_drawing

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def compiled():
    return compile_graph(attention_case(1, 16, 16, 0).graph, resolve_config("base"))


def test_a_ring_is_drawn_where_its_rows_are(compiled):
    plan = compiled.plan
    root = ElementTree.fromstring(str(plan.drawing))
    shown = {each.findtext(f"{SVG}title"): each for each in root.iter(f"{SVG}rect")}
    totals = {"scratchpad": plan.machine.scratchpad_rows}
    totals |= {"accumulator": plan.machine.accumulator_rows}
    totals |= {"parameters": plan.machine.parameter_rows}
    totals |= {"statistics": plan.machine.statistics_rows}
    for name, ring in plan.rings.items():
        for first, rows in ring.spans:
            box = shown[f"{name}: rows {first:,} to {first + rows - 1:,}"]
            wide = max(1, 560 * rows / totals[ring.space])  # No ring is too short to be seen.
            assert float(box.get("width", "")) == pytest.approx(wide, rel=1e-4)


def test_every_stage_is_named(compiled):
    texts = [each.text or "" for each in ElementTree.fromstring(compiled.plan._repr_html_()).iter()]
    for number, stage in enumerate(compiled.plan.stages, 1):
        assert any(text.startswith(f"{number}. {stage.kind}: {stage.ops[0]}") for text in texts)


def test_a_compiled_graph_shows_graph_plan_and_memory(compiled):
    page = compiled._repr_html_()
    assert page.count("<svg") == 1
    assert f"graph {compiled.graph.name}" in page
    assert f"plan of {compiled.graph.name}" in page
    assert f"main memory of {compiled.graph.name}" in page


@pytest.mark.parametrize(("count", "more"), [(4, ""), (5, " and 1 more")])
def test_a_line_names_four_operators_of_a_stage(count, more):
    stage: Any = SimpleNamespace(kind="heads", ops=tuple(f"op{number}" for number in range(count)))
    machine = SimpleNamespace(dim=4, rows={})
    plan: Any = SimpleNamespace(
        graph="a graph", machine=machine, scheduler="none", rings={}, stages=[stage]
    )
    drawn = ElementTree.fromstring(str(plan_drawing(plan)))
    texts = [each.text for each in drawn.iter(f"{SVG}text")]
    assert texts[-1] == f"1. heads: op0, op1, op2, op3{more}"
