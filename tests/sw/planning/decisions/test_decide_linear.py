"""Plans of sums where nothing but stores finishes them."""

from dataclasses import replace

import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.compiler.pipeline import find_plan
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import AddResidual, MatMul, Requantize, Softmax, Tensor, View
from celosia.sw.models.cases import multiply_case, softmax_case
from celosia.sw.planning.choices import DEFAULT
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.stages import LinearStage
from tests.support.stored_products import stored_case
from tests.sw.scheduling.expansions import expanded

SMALL = PRESETS["small"]
NARROW = SMALL.with_values({"parameter_rows": 8, "accumulator_kib": 2, "scratchpad_kib": 8})


@pytest.mark.parametrize("config", [SMALL, PRESETS["gemmini"], NARROW], ids=str)
@pytest.mark.parametrize("rows", [1, 8, 13, 100])
def test_stores_finish_all_operators_without_a_unit(config, rows):
    case = stored_case(rows, 40, seed=rows)
    for loads in (False, True):
        plan = decide_graph(case.graph, config, replace(DEFAULT, schedule_loads=loads))
        assert all(
            isinstance(each, LinearStage) and each.drain.by == "mvout" for each in plan.stages
        )
        assert {ring.space for ring in plan.rings.values()} <= {
            "scratchpad",
            "accumulator",
            "parameters",
        }
        expanded(case, config, plan)


def test_the_fastest_plan_is_looked_for_without_a_unit():
    case = stored_case(24, 40, seed=1)
    expanded(case, SMALL, find_plan(case.graph, SMALL))
    assert compile_graph(case.graph, SMALL).program


def finished(finish, out: str):
    """The first product of such a graph with another finish."""
    graph = stored_case(8, 16, seed=1).graph
    (op, *_), tensors = graph.ops, graph.tensors
    assert isinstance(op, MatMul)
    tensors = {**tensors, "hidden": replace(tensors["hidden"], type=out)}
    tensors["scales"] = Tensor("scales", "float32", 1, op.out.cols)
    tensors["other"] = Tensor("other", "int16", *op.out.shape)
    return replace(graph, ops=(replace(op, finish=finish),), tensors=tensors)


@pytest.mark.parametrize(
    ("finish", "out", "what"),
    [
        (
            Requantize(View("scales", 0, 0, 1, 35)),
            "int8",
            "requantize by a scale for each column to int8",
        ),
        (Requantize(0.1), "int16", "requantize to int16"),
        (Requantize(0.1, 3), "uint8", "requantize to uint8"),
        (AddResidual(0.1, View("other", 0, 0, 8, 35), 0.1), "int16", "add_residual"),
        (Softmax(0.1), "uint8", "softmax"),
    ],
)
def test_what_stores_cannot_finish_is_refused_by_name(finish, out, what):
    with pytest.raises(ValueError, match=rf"^up: .*{what}.* needs a normalization unit"):
        decide_graph(finished(finish, out), SMALL)


def test_other_operators_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^multiply: .* needs a normalization unit"):
        decide_graph(multiply_case(4, 8, 1).graph, SMALL)
    with pytest.raises(ValueError, match=r"^softmax: softmax to uint8 needs a normalization unit"):
        decide_graph(softmax_case(2, 3, seed=1).graph, SMALL)


def test_rows_that_are_written_twice_are_refused():
    graph = stored_case(4, 16, seed=1).graph
    op = graph.ops[0]
    assert isinstance(op, MatMul)
    tensors = {**graph.tensors, "copies": Tensor("copies", "int8", 4, op.out.cols)}
    copies = tuple(View("copies", row, 0, 1, op.out.cols) for row in range(4))
    twice = replace(graph, ops=(replace(op, copies=copies), *graph.ops[1:]), tensors=tensors)
    with pytest.raises(ValueError, match=r"^up: .* needs a normalization unit"):
        decide_graph(twice, SMALL)
