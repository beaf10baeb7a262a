"""Products only, with a host for the rest."""

import numpy as np

from celosia.lab.graphs.offloaded import host_elements, offloaded
from celosia.sw.ir.graph import MatMul, Sums
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.ir.graph_verify import verify
from celosia.sw.models.cases import attention_case, encoder_layer_case, random_quantized_encoder
from celosia.sw.reference.encoder import EncoderShape

SHAPE = EncoderShape(layers=2, width=16, heads=2, hidden=32)
CASE = encoder_layer_case(random_quantized_encoder(SHAPE, 0), [5], 0)


def test_only_products_are_left_and_their_sums_are_exact():
    graph = offloaded(CASE.graph)
    verify(graph)
    products = [op for op in CASE.graph.ops if isinstance(op, MatMul)]
    assert [op.name for op in graph.ops] == [op.name for op in products]
    assert graph.macs == CASE.graph.macs
    values = interpret(CASE.graph, CASE.inputs)
    found = interpret(graph, {name: values[name] for name in graph.inputs})
    for op in graph.ops:
        assert isinstance(op, MatMul)
        assert op.finish == Sums()
        a, b = ({**values, **graph.constants}[v.tensor][v.slices] for v in (op.a, op.b))
        expected = a.astype(np.int64) @ (b.T if op.b_transposed else b).astype(np.int64)
        assert (found[op.out.tensor] == expected).all()


def test_the_host_works_on_every_element_between():
    tokens, width, hidden, heads = 5, 16, 32, 2
    assert host_elements(CASE.graph, gelu_by={"silu"}) == {
        "softmax": heads * tokens * tokens,
        "gelu": tokens * hidden,
        "layernorm": 2 * tokens * width,
        "residual": 2 * tokens * width,
        "quantize": heads * tokens * tokens + tokens * hidden + 6 * tokens * width,
    }
    assert host_elements(attention_case(1, 3, 4, 0).graph) == {"softmax": 9, "quantize": 9 + 12}
