"""Parts of graphs that cost like them."""

from collections import Counter

from celosia.isa.presets import PRESETS
from celosia.sw.compiler.probe import is_much_of, probe_graph, product_tiles
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


def test_a_probe_has_two_operators_of_each_kind_if_there_are_so_many():
    graph = layer(8, 8, 8)
    whole = Counter(op.alike for op in graph.ops)
    probe = Counter(op.alike for op in probe_graph(graph, TINY).ops)
    assert max(whole.values()) > 2
    assert probe == {kind: min(count, 2) for kind, count in whole.items()}


def test_tiles_of_weights_are_counted_by_hand():
    """Four columns make a tile; 4 x 4 rows stream through each: 33 rows do so three times."""
    graph = cases.matmul_case(33, 9, 8, 0).graph
    assert product_tiles(graph, TINY) == 3 * 2 * 3


def test_a_probe_is_much_of_a_graph_up_to_twice_its_operators_and_its_tiles():
    graphs = {texts: layer(*[8] * texts) for texts in (1, 2, 3)}
    ops = {texts: len(graph.ops) for texts, graph in graphs.items()}
    for texts, graph in graphs.items():
        for others, probe in graphs.items():
            tiles = product_tiles(graph, TINY) <= 2 * product_tiles(probe, TINY)
            wanted = ops[texts] <= 2 * ops[others] and tiles
            assert is_much_of(probe, graph, TINY) == wanted, (texts, others)
    one, two = cases.matmul_case(4, 4, 8, 0).graph, cases.matmul_case(4, 4, 16, 0).graph
    more = cases.matmul_case(4, 4, 20, 0).graph
    assert is_much_of(one, two, TINY)
    assert not is_much_of(one, more, TINY)
