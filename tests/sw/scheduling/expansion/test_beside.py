"""Rows that the lanes compute beside products: what comes when, and what it means."""

from dataclasses import replace
from itertools import takewhile

import numpy as np
import pytest

from celosia.isa.encoding import Function
from celosia.lab.fuzz.graphs.levels import check_levels
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sw.ir.graph import Combine, MatMul, Requantize, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.ir.program import Op, Products, Transform
from celosia.sw.models.cases import Case, normalized_twice
from celosia.sw.models.random_operands import int8_matrix, int16_matrix
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.stages import CombineStage, LinearStage, NormStage
from celosia.sw.planning.rules.verify import verify_plan
from celosia.sw.scheduling.expansion.beside import may_stand_beside
from tests.support.levels import CONFIGS
from tests.sw.scheduling.expansions import expanded

ROWS, WIDTH = 200, 64


def case(kind: str) -> Case:
    """Rows that are normalized, or multiplied, and a product of them."""
    random, builder = np.random.default_rng(1), GraphBuilder(kind)
    source = builder.input(Tensor("source", "int16", ROWS, WIDTH))
    inputs = {"source": int16_matrix(random, ROWS, WIDTH, 1000)}
    if kind == "normalized":
        outputs = normalized_twice(builder, random, ROWS, WIDTH)
        builder.layernorm("rows", source, outputs)
        made = outputs[0].out
    else:
        up = builder.input(Tensor("up", "int16", ROWS, WIDTH))
        inputs["up"] = int16_matrix(random, ROWS, WIDTH, 1000)
        made = builder.tensor(Tensor("made", "int8", ROWS, WIDTH))
        builder.combine(
            Combine(name="rows", function="multiply", out=made, a=source, b=up, scale=1e-5)
        )
    weights = builder.constant("weights", int8_matrix(random, WIDTH, 3 * 128))
    out = builder.tensor(Tensor("out", "int8", ROWS, 3 * 128))
    builder.matmul("product", out, made, weights, Requantize(0.001))
    return Case(builder.finish("out"), inputs)


def decided(kind: str) -> tuple[Case, Plan]:
    found = case(kind)
    return found, decide_graph(found.graph, CONFIGS["base"])


def is_made(op: Op) -> bool:
    made = (Function.MOMENTS, Function.LAYERNORM, Function.MULTIPLY)
    return isinstance(op, Transform) and op.function in made


@pytest.mark.parametrize("kind", ["normalized", "multiplied"])
def test_rows_of_the_next_block_come_behind_the_first_columns_of_this_one(kind):
    found, plan = decided(kind)
    ops = [written.op for written in expanded(found, CONFIGS["base"], plan)]
    before = sum(map(is_made, takewhile(lambda op: not isinstance(op, Products), ops)))
    last = max(place for place, op in enumerate(ops) if is_made(op))
    behind = [op for op in ops[last:] if isinstance(op, Products)]
    assert 0 < before < sum(map(is_made, ops)) / 2
    blocks = len(plan.stages[1].rows) if isinstance(plan.stages[1], LinearStage) else 0
    assert blocks > 2
    assert len(behind) < 2 * sum(isinstance(op, Products) for op in ops) / blocks


@pytest.mark.parametrize("kind", ["normalized", "multiplied"])
def test_what_shares_rows_of_the_scratchpad_comes_one_after_the_other(kind):
    found, plan = decided(kind)
    first, product = plan.stages
    ops = {op.name: op for op in found.graph.ops}
    assert may_stand_beside(first, product, ops, plan)
    assert isinstance(first, NormStage | CombineStage)
    ring = first.norm.results[0] if isinstance(first, NormStage) else first.results
    meeting = replace(plan, rings={**plan.rings, ring: plan.rings["activations"]})
    assert not may_stand_beside(first, product, ops, meeting)
    expanded(found, CONFIGS["base"], meeting)


def test_a_product_of_other_rows_waits_for_all():
    found, plan = decided("normalized")
    ops = {op.name: op for op in found.graph.ops}
    product = ops["product"]
    assert isinstance(product, MatMul)
    ops["product"] = replace(product, a=product.a.part(row=1, rows=ROWS - 1))
    first, second = plan.stages
    assert not may_stand_beside(first, second, ops, plan)
    assert not may_stand_beside(second, first, ops, plan)


def test_a_product_with_another_result_as_its_weights_waits_for_all():
    """Rows of A come block by block, but all of B is read by the first one."""
    found, plan = decided("normalized")
    ops = {op.name: op for op in found.graph.ops}
    product, (first, second) = ops["product"], plan.stages
    assert isinstance(product, MatMul)
    for name in ("small", "wide"):
        ops["product"] = replace(product, b=found.graph.tensors[name].view(), b_transposed=True)
        assert not may_stand_beside(first, second, ops, plan)
    check_levels(random_case(0, extent=60, combinations=True), CONFIGS["tiny"])


@pytest.mark.parametrize("order", ["cols", "parts"])
@pytest.mark.parametrize("kind", ["normalized", "multiplied"])
def test_blocks_of_other_rows_in_turn_come_behind_all_rows(kind, order):
    """The second block of columns in turn would be of rows that are not computed yet."""
    found, plan = decided(kind)
    first, product = plan.stages
    assert isinstance(product, LinearStage)
    other = replace(product, parts=(product.tiles[-1] - 1, 1))
    if order == "cols":
        other = replace(product, outer="cols")
    changed = replace(plan, stages=(first, other))
    verify_plan(changed, found.graph, CONFIGS["base"])
    expanded(found, CONFIGS["base"], changed)
