"""Operators and their parts: some rows or columns are those of the whole."""

from dataclasses import fields, replace
from typing import get_args

import numpy as np
import pytest

from celosia.sw.ir.graph import Mask, Op
from celosia.sw.ir.graph_interpret import Machine
from celosia.sw.ir.graph_verify import verify
from celosia.sw.models.cases import (
    activation_case,
    attention_case,
    layernorm_case,
    matmul_case,
    multiply_case,
    residual_case,
    rotate_case,
    softmax_case,
)
from tests.support.differences import difference_case

CASES = {
    "a product with scales of columns": matmul_case(6, 8, 7, 0),
    "a curve": activation_case("gelu", 6, 8, 0),
    "a residual": residual_case(6, 8, 0),
    "a softmax": softmax_case(6, 8, 0),
    "a normalization": layernorm_case(6, 8, 0),
    "a gate": multiply_case(6, 8, 0),
    "a difference": difference_case(6, 8, 0),
    "a rotation": rotate_case(6, 8, 0),
    "a causal head": attention_case(1, 6, 8, 0, mask=Mask(causal=True)),
}


def computed(case, change):
    """What the first operator writes, and what a part of it writes."""
    whole, some = (Machine(case.graph, dict(case.inputs)) for _ in range(2))
    op = case.graph.ops[0]
    part = change(op)
    whole.take(op)
    some.take(part)
    pairs = zip(op.results, part.results, strict=True)
    return [(whole.read(one), some.read(one), some.read(other)) for one, other in pairs]


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_some_rows_of_an_operator_are_those_of_the_whole(case):
    for whole, some, part in computed(case, lambda op: op.some_rows(2, 3)):
        np.testing.assert_array_equal(part, whole[2:5])
        assert not np.delete(some, [2, 3, 4], axis=0).any()
        assert whole[[1, 5]].any()


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_some_columns_of_an_operator_are_those_of_the_whole(case):
    if not case.graph.ops[0].has_some_cols:
        return
    for whole, some, part in computed(case, lambda op: op.some_cols(1, 4)):
        np.testing.assert_array_equal(part, whole[:, 1:5])
        assert not np.delete(some, [1, 2, 3, 4], axis=1).any()


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("column", [0, 3, 7])
def test_one_scale_of_a_column_that_is_not_finite_is_refused(column, wrong):
    graph = CASES["a product with scales of columns"].graph
    scale = graph.constants["scale"].copy()
    scale[0, column] = wrong
    bad = replace(graph, constants={**graph.constants, "scale": scale})
    with pytest.raises(ValueError, match=r"scale: scale\[0:1, 0:8\] is not finite everywhere"):
        verify(bad)


def test_rows_that_are_looked_at_as_a_whole_have_no_parts():
    whole = {name for name, case in CASES.items() if not case.graph.ops[0].has_some_cols}
    assert whole == {"a softmax", "a normalization", "a rotation", "a causal head"}


def test_a_row_that_somebody_patches_stays_where_it_is():
    case = attention_case(1, 6, 8, 0, mask=Mask(causal=True, moving=True))
    assert [op.has_some_rows for op in case.graph.ops] == [False, True]


@pytest.mark.parametrize("kind", get_args(Op))
def test_what_an_operator_reads_and_writes_is_its_own(kind):
    """A step of another length is made by replacing what is written, by these names."""
    names = {each.name for each in fields(kind)}
    assert {*kind.READS, *kind.WRITES, *kind.ROWS, *kind.COLS} <= names
