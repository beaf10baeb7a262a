"""Limits of graphs, counted by hand."""

import numpy as np
import pytest

from celosia.isa.encoding import WeightType
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sw.ir.graph import Sums, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.timeline.limits import graph_limit


def product(m, k, n, kind=WeightType.INT8):
    build = GraphBuilder("product")
    weights = build.constant("w", np.zeros((k, n), np.int8), kind)
    out = build.tensor(Tensor("out", "int32", m, n))
    build.matmul("product", out, build.input(Tensor("a", "int8", m, k)), weights, Sums())
    return build.finish("out")


@pytest.mark.parametrize(
    ("m", "k", "n", "compute"),
    [
        # Columns of tiles, times: whole tiles hold for 16 cycles at least, the last one for its
        # lines.
        (3, 20, 33, 3 * (16 + 4)),
        (2, 20, 16, 16 + 4),
        (5, 20, 16, 16 + 5),
        (40, 20, 33, 3 * (40 + 40)),
        (1, 4, 1, 4),
        (17, 48, 32, 2 * 3 * 17),
    ],
)
def test_rows_enter_the_array_for_as_long_as_tiles_do(m, k, n, compute):
    found = graph_limit(product(m, k, n), PRESETS["base"], MemoryTiming())
    assert found.compute == compute


@pytest.mark.parametrize(("k", "compute"), [(16, 8), (28, 8 + 8), (20, 8 + 4), (12, 8)])
def test_pairs_of_lines_take_eight_cycles_at_most(k, compute):
    graph = product(1, k, 16, WeightType.INT4)
    assert graph_limit(graph, PRESETS["base-int4"], MemoryTiming()).compute == compute


def test_operands_come_once_results_leave_once_and_latency_counts_at_both_ends():
    timing = MemoryTiming(latency=7, bytes_per_cycle=8)
    found = graph_limit(product(3, 20, 33), PRESETS["base"], timing)
    assert found.reads == -(-(3 * 20 + 20 * 33) // 8)
    assert found.writes == -(-4 * 3 * 33 // 8)
    assert found.ramp == 15
    assert (found.bound, found.cycles) == ("reads", 90 + 15)
