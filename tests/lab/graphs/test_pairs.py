"""Pairs of operators: what passes through memory does not change results."""

from collections.abc import Callable

import numpy as np
import pytest

from celosia.lab.graphs.pairs import context_case, linear_norm_case, scores_case
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import Case

PAIRS: dict[str, Callable[[bool], Case]] = {
    "scores": lambda spilled: scores_case(2, 24, 8, 1, spilled=spilled),
    "context": lambda spilled: context_case(2, 24, 8, 1, spilled=spilled),
    "linear": lambda spilled: linear_norm_case(5, 24, 40, 1, spilled=spilled),
}


@pytest.mark.parametrize("pair", PAIRS)
def test_spilling_changes_no_result(pair):
    spilled, kept = (PAIRS[pair](each) for each in (True, False))
    assert spilled.inputs.keys() == kept.inputs.keys()
    assert all(np.array_equal(spilled.inputs[name], kept.inputs[name]) for name in kept.inputs)
    first, second = (interpret(case.graph, case.inputs) for case in (spilled, kept))
    for name in kept.graph.outputs:
        assert np.array_equal(first[name], second[name])
        assert len(np.unique(second[name])) > 20


@pytest.mark.parametrize(
    ("pair", "sums"), [("scores", "scores"), ("context", "scores"), ("linear", "sums")]
)
def test_only_the_sums_pass_through_memory(pair, sums):
    spilled, kept = (PAIRS[pair](each).graph.tensors for each in (True, False))
    assert {name: spilled[name].type for name in spilled.keys() - kept.keys()} == {sums: "int32"}


def test_contexts_are_values_by_their_probabilities():
    case = context_case(2, 24, 8, 1, spilled=False)
    found = interpret(case.graph, case.inputs)
    for head in range(2):
        weights = found["probabilities"][24 * head : 24 * (head + 1)].astype(int)
        exact = weights @ case.inputs["value"][:, 8 * head : 8 * (head + 1)].astype(int) / 255
        assert np.max(np.abs(found["context"][:, 8 * head : 8 * (head + 1)] - exact)) <= 0.5001
