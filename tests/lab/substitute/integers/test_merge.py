"""Norms of the same rows become one, if they are the same but for what follows them."""

import numpy as np
import pytest

from celosia.lab.substitute.integers.merge import find_shared_norms
from celosia.lab.substitute.integers.reader import IntegerReader
from celosia.sw.ir.graph import LayerNorm, Normalized, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder


def norms(*forms, sources=("x", "x"), results=1):
    """Two norms of rows, each with its epsilon and whether its mean counts as 0."""
    builder = GraphBuilder("norms")
    rows = {name: builder.input(Tensor(name, "int16", 3, 8)) for name in dict.fromkeys(sources)}
    gamma = builder.constant("gamma", np.full((1, 8), 1 << 9, np.int16))
    beta = builder.constant("beta", np.zeros((1, 8), np.int32))
    names = []
    for number, ((epsilon, rms), source) in enumerate(zip(forms, sources, strict=True)):
        outs = [f"out{number}.{n}" for n in range(results)]
        made = [builder.tensor(Tensor(name, "int8", 3, 8)) for name in outs]
        given = [Normalized(out, gamma, beta, 9) for out in made]
        builder.layernorm(f"norm{number}", rows[source], given, epsilon=epsilon, rms=rms)
        names += outs
    return builder.finish(*names)


def test_two_norms_that_are_alike_are_one_with_both_results():
    graph = norms((5, False), (5, False))
    (edit,) = find_shared_norms(IntegerReader(graph))
    assert [op.name for op in edit.removed] == ["norm0", "norm1"]
    (added,) = edit.added
    assert isinstance(added, LayerNorm)
    assert [each.out.tensor for each in added.outputs] == ["out0.0", "out1.0"]


@pytest.mark.parametrize(
    "graph",
    [
        norms((5, False), (5, True)),
        norms((5, False), (6, False)),
        norms((5, False), (5, False), sources=("x", "y")),
        norms((5, False), (5, False), results=2),
    ],
    ids=["a mean", "epsilon", "rows", "room for no more results"],
)
def test_norms_that_differ_stay_apart(graph):
    assert not list(find_shared_norms(IntegerReader(graph)))
