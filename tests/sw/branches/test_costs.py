"""What blocks take beside each other, against bytes and cycles that are counted by hand."""

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sw.branches.blocks import blocks_of
from celosia.sw.branches.costs import Costs
from celosia.sw.ir.graph import Requantize, Tensor
from celosia.sw.ir.graph_builder import GraphBuilder

BASE = resolve_config("base")
TIMING = MemoryTiming(bytes_per_cycle=8)


def products(count, out="int8"):
    """Products of 16 rows, 32 deep and 16 wide, with a bias and scales of columns."""
    builder = GraphBuilder("products")
    for number in range(count):
        a = builder.input(Tensor(f"a{number}", "int8", 16, 32))
        b = builder.input(Tensor(f"b{number}", "int8", 32, 16))
        bias = builder.input(Tensor(f"bias{number}", "int32", 1, 16))
        scale = builder.constant(f"scale{number}", np.full((1, 16), 0.01, np.float32))
        c = builder.tensor(Tensor(f"c{number}", out, 16, 16))
        builder.matmul(f"product{number}", c, a, b, Requantize(scale), bias=bias)
    return builder.finish(*(f"c{number}" for number in range(count)))


@pytest.mark.parametrize(("out", "written"), [("int8", 256), ("int16", 512)])
def test_a_block_reads_and_writes_its_tensors_once_each_in_its_own_bytes(out, written):
    graph = products(1, out)
    (block,) = blocks_of(graph)
    cost = Costs(graph, BASE, TIMING).of(block, 4)
    assert cost is not None
    array, reads, writes, _ = cost.busy
    assert reads == (16 * 32 + 32 * 16 + 4 * 16 + 4 * 16) / 8
    assert writes == written / 8
    assert array >= 2 * 16  # 16 rows pass two tiles of weights.
    assert cost.cycles > max(cost.busy)


def test_branches_take_no_less_than_the_longest_of_them_does_alone():
    """Two short products wait for memory most of the time: no unit is busy for long."""
    graph = products(2)
    costs = Costs(graph, BASE, TIMING)
    first, second = blocks_of(graph)
    found = costs.together([[first], [second]])
    assert found is not None
    alone = [cost.cycles for each in (first, second) if (cost := costs.of(each, 2))]
    assert len(alone) == 2
    assert max(alone) <= found.cycles <= sum(alone)
