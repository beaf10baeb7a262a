"""Plans of normalizations: where results go."""

import numpy as np
import pytest

from celosia.isa.presets import PRESETS
from celosia.sw.ir.graph import Normalized, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.stages import NormStage

TINY = PRESETS["tiny"]


@pytest.mark.parametrize("kinds", [("int8", "int8"), ("int16", "int16"), ("int16", "int8")])
def test_two_results_never_go_to_one_ring(kinds):
    """Each would wait for the other, of which the ring may be full."""
    builder = GraphBuilder("twice")
    source = builder.input(Tensor("source", "int16", 8, 32))
    gamma = builder.constant("gamma", np.ones((1, 32), np.int16))
    beta = builder.constant("beta", np.zeros((1, 32), np.int32))
    outs = [builder.tensor(Tensor(f"out{n}", kind, 8, 32)) for n, kind in enumerate(kinds)]
    builder.layernorm("norm", source, [Normalized(out, gamma, beta, 0) for out in outs])
    plan = decide_graph(builder.finish("out0", "out1"), TINY)
    (stage,) = plan.stages
    assert isinstance(stage, NormStage)
    first, second = stage.norm.results
    assert not plan.rings[first].meets(plan.rings[second])


@pytest.mark.parametrize(
    ("rows", "cols", "largest"),
    [(6, 512, 2), (6, 600, 1), (6, 1024, 1), (6, 64, 6)],
)
def test_rows_of_a_block_are_as_many_whole_ones_as_the_ring_of_words_holds(rows, cols, largest):
    """An int16 takes two rows of the ring's 512 for each tile of four columns."""
    builder = GraphBuilder("norm")
    source = builder.input(Tensor("source", "int16", rows, cols))
    gamma = builder.constant("gamma", np.ones((1, cols), np.int16))
    beta = builder.constant("beta", np.zeros((1, cols), np.int32))
    out = builder.tensor(Tensor("out", "int8", rows, cols))
    builder.layernorm("norm", source, [Normalized(out, gamma, beta, 0)])
    plan = decide_graph(builder.finish("out"), TINY)
    (stage,) = plan.stages
    assert isinstance(stage, NormStage)
    assert plan.rings[stage.norm.source].least == 512
    assert max(stage.rows) == largest
