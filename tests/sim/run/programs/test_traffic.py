"""The least traffic: what is counted once, and what never."""

from itertools import combinations

import pytest

from celosia.sim.run.programs.traffic import Traffic, graph_traffic, product_traffic
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import attention_case, encoder_layer_case, random_quantized_encoder
from celosia.sw.planning.problems import graph_of
from celosia.sw.reference.encoder import EncoderShape

SHAPE = EncoderShape(layers=2, width=16, heads=2, hidden=32)
LAYER = encoder_layer_case(random_quantized_encoder(SHAPE, 0), [3, 5], 0).graph
HEADS = attention_case(2, 6, 8, 0).graph
GRAPHS = pytest.mark.parametrize("graph", [LAYER, HEADS], ids=["layer", "heads"])


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(("scale", "size"), [(None, 4), (0.01, 1)])
def test_a_product_reads_its_operands_and_writes_its_result(bias, scale, size):
    problem = MatMul(m=2, k=3, n=5, bias=bias, scale=scale)
    wanted = Traffic(read=2 * 3 + 3 * 5 + 4 * 5 * bias, written=2 * 5 * size)
    assert product_traffic(problem) == wanted
    graph = graph_of("matmul", problem)
    assert graph_traffic(graph, ["matmul"]) == wanted


@GRAPHS
def test_a_graph_reads_constants_and_inputs_and_writes_outputs(graph):
    names = [*graph.constants, *graph.inputs]
    wanted = Traffic(
        read=sum(graph.tensors[name].bytes for name in names),
        written=sum(graph.tensors[name].bytes for name in graph.outputs),
    )
    assert graph_traffic(graph, [op.name for op in graph.ops]) == wanted


@GRAPHS
def test_that_of_parts_adds_up(graph):
    names = [op.name for op in graph.ops]
    whole = graph_traffic(graph, names)
    alone = [graph_traffic(graph, [name]) for name in names]
    assert sum(part.read for part in alone) == whole.read
    assert sum(part.written for part in alone) == whole.written
    for chosen in combinations(range(len(names)), 2):
        both = graph_traffic(graph, {names[each] for each in chosen})
        assert both.read == sum(alone[each].read for each in chosen)
        assert both.written == sum(alone[each].written for each in chosen)
    assert graph_traffic(graph, []) == Traffic(0, 0)
