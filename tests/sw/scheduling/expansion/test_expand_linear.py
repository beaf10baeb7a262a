"""Operators whose sums are finished in the accumulator: halves, blocks and passes."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from celosia.isa.encoding import Function
from celosia.sw.ir.graph import Mask, MatMul, Tensor, View
from celosia.sw.ir.program import Load, Op, Products, Space, Store, Transform
from celosia.sw.models.cases import Case, activation_case, matmul_case, residual_case, softmax_case
from celosia.sw.planning.decisions.decide_graph import decide_graph
from tests.support.levels import CONFIGS, configured
from tests.support.norms import normalized_sum
from tests.sw.scheduling.expansions import expanded

TINY, BASE = CONFIGS["tiny"], CONFIGS["base"]


def written(case, config) -> list[Op]:
    plan = decide_graph(case.graph, config)
    return [one.op for one in expanded(case, config, plan)]


def transforms(ops: list[Op]) -> list[Transform]:
    return [op for op in ops if isinstance(op, Transform)]


def test_sums_take_turns_with_the_halves_of_the_accumulator():
    ops = written(matmul_case(200, 600, 32, seed=1), BASE)
    half = BASE.accumulator_rows // 2
    order = [op.c >= half for op in ops if isinstance(op, Products)]
    turns = [one for one, before in zip(order, [None, *order], strict=False) if one != before]
    assert turns[0] is False
    assert len(turns) > 4
    for op in transforms(ops):
        assert op.source.end <= half or op.source.row >= half


def test_blocks_of_rows_are_outermost():
    ops = written(matmul_case(200, 600, 32, seed=1), BASE)
    rows = [op.view.row for op in ops if isinstance(op, Store)]
    assert rows == sorted(rows)
    assert len(set(rows)) == 4, "blocks of up to 64"


def test_weights_that_fit_are_loaded_once():
    ops = written(matmul_case(200, 64, 64, seed=1), BASE)
    elements = sum(op.view.rows * op.view.cols for op in ops
                   if isinstance(op, Load) and op.view.tensor == "b")  # fmt: skip
    assert elements == 64 * 64


@pytest.mark.parametrize("make", [partial(activation_case, "gelu"), residual_case])
def test_sums_from_memory_are_loaded_once(make):
    ops = written(make(50, 70, seed=1), TINY)
    elements = sum(op.view.rows * op.view.cols for op in ops
                   if isinstance(op, Load) and op.view.tensor == "source")  # fmt: skip
    assert elements == 50 * 70


def transposed(rows: int, cols: int, depth: int) -> Case:
    """A product with weights as columns by depth, and a scale for each column."""
    case = matmul_case(rows, cols, depth, seed=1)
    graph, (op,) = case.graph, case.graph.ops
    assert isinstance(op, MatMul)
    return replace(
        case,
        graph=replace(
            graph,
            tensors={**graph.tensors, "b": Tensor("b", "int8", cols, depth)},
            constants={**graph.constants, "b": np.ascontiguousarray(graph.constants["b"].T)},
            ops=(replace(op, b=View("b", 0, 0, cols, depth), b_transposed=True),),
        ),
    )


@pytest.mark.parametrize("make", [transposed, partial(matmul_case, seed=1)])
def test_each_block_of_columns_has_its_own_weights_and_scales(make):
    case = make(16, 300, 9)
    products = {op.c for op in written(case, TINY) if isinstance(op, Products)}
    assert len(products) > 1, "more than one block"


WIDE = {"tiny": (16, 600), "least": (5, 90), "small": (32, 560), "base": (64, 300)}
"""Rows and columns of which half the accumulator does not hold all."""


@pytest.mark.parametrize("name", WIDE)
def test_rows_wider_than_half_the_accumulator_are_normalized_as_a_whole(name):
    """Moments begin with the first columns of a row and end with its last ones."""
    config, (rows, cols) = CONFIGS[name], WIDE[name]
    case = normalized_sum(rows, cols)
    sums = [op for op in transforms(written(case, config)) if op.function is Function.RESIDUAL]
    for end in ("start", "finish"):
        assert sum(op.source.rows for op in sums if op.settings[end]) == rows
    assert sum(op.source.rows for op in sums if not op.settings["start"]) >= rows
    assert sum(op.cols * op.source.rows for op in sums) == rows * cols


def test_scores_that_fit_are_loaded_for_all_three_passes():
    ops = written(softmax_case(3, 70, seed=1), TINY)
    loads = [op for op in ops if isinstance(op, Load)]
    assert sum(op.view.rows * op.view.cols for op in loads) == 3 * 70
    functions = [op.function for op in transforms(ops)]
    assert functions[:2] == [Function.MAXIMUM, Function.SUM]
    assert set(functions[2:]) == {Function.PROBABILITY}


@pytest.mark.parametrize(
    ("cols", "tiles", "times"),
    [(300, (32, 32, 11), 3), (200, (32, 18), 1), (129, (32, 1), 1), (96, (12, 12), 1)],
)
def test_scores_that_do_not_fit_are_loaded_for_each_pass(cols, tiles, times):
    """Two blocks are still there, one in each half, and each pass is over both."""
    config = configured("tiny", accumulator_kib=1)
    case = softmax_case(1, cols, seed=1, mask=Mask(keys=cols - 50, causal=True))
    plan = decide_graph(case.graph, config)
    (stage,) = plan.stages
    plan = replace(plan, stages=(replace(stage, tiles=tiles),))
    ops = [one.op for one in expanded(case, config, plan)]
    loads = [op for op in ops if isinstance(op, Load)]
    assert sum(op.view.cols for op in loads) == times * cols
    for function in (Function.MAXIMUM, Function.SUM):
        passes = [op for op in transforms(ops) if op.function is function]
        assert [op.settings["start"] for op in passes] == [1, *[0] * (len(passes) - 1)]
        assert [op.settings["finish"] for op in passes] == [*[0] * (len(passes) - 1), 1]
        keys = [op.mask["first_key"] for op in passes if op.mask is not None]
        assert keys == [sum(op.cols for op in passes[:n]) for n in range(len(passes))]
    assert all(op.source.space is Space.ACCUMULATOR for op in transforms(ops))
