"""Parts of graphs that cost like them."""

from celosia.isa.presets import PRESETS
from celosia.sw.compiler.probe import probe_graph, product_tiles
from celosia.sw.decoding.texts import Text
from celosia.sw.ir.graph import MatMul as GraphProduct
from celosia.sw.models import cases
from celosia.sw.reference.encoder import EncoderShape
from tests.sw.models.decoder_runs import model

TINY = PRESETS["tiny"]
SHAPE = EncoderShape(layers=2, width=16, heads=4, hidden=32)


def layer(*lengths):
    return cases.encoder_layer_case(cases.random_quantized_encoder(SHAPE, 0), lengths, 0).graph


def test_a_probe_has_few_operators_of_a_kind_and_few_rows():
    graph = layer(40, 40, 40, 40)
    probe = probe_graph(graph, TINY)
    assert len(probe.ops) < len(graph.ops) / 3
    assert product_tiles(probe, TINY) < product_tiles(graph, TINY) / 3
    assert {type(op) for op in probe.ops} == {type(op) for op in graph.ops}


def test_a_probe_has_few_columns_of_a_vocabulary():
    graph = model("opt", layers=1, vocabulary=1000).graph([Text(3)], 4)
    last = probe_graph(graph, TINY).ops[-1]
    assert isinstance(last, GraphProduct)
    assert last.out.cols == last.b.cols == 192 * TINY.dim
