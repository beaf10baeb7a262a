"""The graph's parts, and how it prints."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.sw.ir.graph import Mask, Tensor
from celosia.sw.models.cases import attention_case, layernorm_case, matmul_case, residual_case


def test_a_view_is_the_whole_of_a_tensor_and_has_parts():
    view = Tensor("x", "int8", 4, 6).view()
    assert view.shape == (4, 6)
    part = view.part(row=1, rows=2, col=3)
    assert str(part) == "x[1:3, 3:6]"
    assert str(part.part(col=1, cols=1)) == "x[1:3, 4:5]"
    values = np.arange(24).reshape(4, 6)
    assert values[part.slices].tolist() == [[9, 10, 11], [15, 16, 17]]


def test_a_tensor_prints_what_its_elements_stand_for():
    tensor = Tensor("h", "uint8", 2, 3, step=0.5, zero_point=9)
    assert str(tensor) == "h: uint8[2x3] step 0.5 zero point 9"
    assert tensor.bytes == 6


@pytest.mark.parametrize(
    ("case", "reads", "writes"),
    [
        (matmul_case(2, 3, 4, 0), ["a", "b", "bias", "scale"], ["out"]),
        (residual_case(2, 3, 0), ["source", "stream"], ["out"]),
        (
            layernorm_case(2, 3, 0),
            ["source", "small.gamma", "small.beta", "wide.gamma", "wide.beta"],
            ["small", "wide"],
        ),
        (attention_case(1, 2, 4, 0), ["query", "key"], ["numerators", "sums"]),
    ],
)
def test_an_operator_knows_what_it_reads_and_writes(case, reads, writes):
    op = case.graph.ops[0]
    assert [view.tensor for view in op.operands] == reads
    assert [view.tensor for view in op.results] == writes


def test_a_graph_prints_in_a_stable_form():
    assert str(attention_case(1, 3, 4, 0).graph) == (
        "graph attention 1 heads, 3 tokens, 4 wide\n"
        "input query: int8[3x4]\n"
        "input key: int8[3x4]\n"
        "input value: int8[3x4]\n"
        "scores.head0: numerators[0:3, 0:3] = query[0:3, 0:4] @ key[0:3, 0:4].T"
        " -> deferred_softmax 0.64, stored, sums to sums[0:3, 0:1]\n"
        "context.head0: context[0:3, 0:4] = numerators[0:3, 0:3] @ value[0:3, 0:4]"
        " -> divide_by sums[0:3, 0:1], requantize 3.0517578e-05\n"
        "output context: int8[3x4]\n"
    )


def test_useful_products_are_counted():
    assert matmul_case(2, 3, 4, 0).graph.macs == 24
    assert attention_case(2, 5, 4, 0).graph.macs == 2 * 2 * 5 * 5 * 4


@pytest.mark.parametrize("moving", [False, True])
def test_only_caches_move_and_only_where_a_mask_does(moving):
    """The other tensors of a step are written once, wherever its programs are patched to begin."""
    graph = attention_case(1, 6, 8, 0, mask=Mask(causal=True, moving=moving)).graph
    first, *others = graph.tensors
    held = replace(
        graph, tensors={**graph.tensors, first: replace(graph.tensors[first], cache=True)}
    )
    assert others
    assert held.moving == (frozenset({first}) if moving else frozenset())
    assert not graph.moving
