"""Everything of a transformer that multiplies is a unit, whoever has written the file."""

import pytest

from celosia.sw.quantize.graphs.find_units import find_units
from celosia.sw.quantize.graphs.units import Attention, Finishing, Normalization, Product
from tests.support.quantized_exports import recognized

BERTS = ("bert-13", "bert-17", "bert-sdpa", "bert-dynamo", "bert-attention")


def kinds(name):
    units = find_units(recognized(name)).units.values()
    return [sum(isinstance(unit, kind) for unit in units) for kind in (Product, Attention)], units


def share(name):
    graph = recognized(name)
    macs, nodes = graph.macs(), find_units(graph).nodes
    return sum(count for node, count in macs.items() if node in nodes) / sum(macs.values())


@pytest.mark.parametrize("name", BERTS)
def test_every_bert_has_the_same_units(name):
    (products, attentions), units = kinds(name)
    finishes = [unit for unit in units if isinstance(unit, Finishing)]
    assert (products, attentions) == (12, 2)
    assert [unit.function for unit in finishes] == [None, "gelu", None] * 2
    assert sum(isinstance(unit, Normalization) for unit in units) == 5
    assert share(name) == 1


@pytest.mark.parametrize(
    "name", ["bert-fused", "vit", "gpt2", "opt", "llama", "whisper-encoder", "bart-decoder"]
)
def test_all_products_of_other_transformers_are_units(name):
    assert share(name) == 1


def test_one_product_of_queries_keys_and_values_is_read_by_columns():
    _, units = kinds("gpt2")
    attention = next(unit for unit in units if isinstance(unit, Attention))
    head = attention.heads[1][2]
    assert attention.causal
    assert head.query.tensor == head.key.tensor == head.value.tensor
    assert [view.col for view in (head.query, head.key, head.value)] == [32, 96, 160]
    assert {view.row for view in (head.query, head.key, head.value)} == {16}


def test_heads_of_queries_share_keys():
    _, units = kinds("llama")
    first = next(unit for unit in units if isinstance(unit, Attention)).heads[0]
    assert first[0].key == first[1].key != first[2].key
    assert first[0].query != first[1].query


def test_a_bias_of_scores_is_refused_with_the_reason():
    assert set(find_units(recognized("t5-encoder")).refusals.values()) == {
        "a bias is added to its scores"
    }
