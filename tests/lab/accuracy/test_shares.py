"""MiniLM over the share of its weights in int4: sets that grow, models that are mixed."""

import numpy as np
import pytest

from celosia.isa.encoding import WeightType
from celosia.lab.accuracy import accuracy_command, shares
from celosia.lab.accuracy.shares import ShareAccuracy, growing, share_accuracies
from celosia.sw.quantize.encoders.encoder import QuantizedEncoder, quantize_encoder
from celosia.sw.quantize.weight_types import WEIGHT_CHOICES, WeightTypes
from celosia.sw.reference.encoder import EncoderShape
from celosia.sw.reference.random_encoder import random_embeddings, random_encoder
from tests.support.command_line import refused, right


def test_sets_grow_to_each_multiple_of_a_step_up_to_all():
    sizes = {"a": 1, "b": 1, "c": 6, "d": 2}
    found = ["".join(sorted(each)) for each in growing("abcd", sizes, 0.2)]
    assert found == ["", "ab", "abc", "abcd"]
    assert [*growing("abcd", sizes, 2.0)] == [frozenset(), frozenset("abcd")]
    sizes = {"a": 3, "b": 3, "c": 2, "d": 2}  # Shares of .3, .6, .8 and 1.
    assert [len(each) for each in growing("abcd", sizes, 0.25)] == [0, 1, 2, 3, 4]
    assert [len(each) for each in growing("abcd", sizes, 0.5)] == [0, 2, 4]


def test_the_command_shows_a_line_for_each_share(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    line = ShareAccuracy(share=0.254, products=2, added="0.key, 1.up", mean=0.99, least=0.98)
    monkeypatch.setattr(accuracy_command, "share_accuracies", lambda _tell: iter([line]))
    text = right("accuracy", "minilm", "--int4-shares").stdout
    assert all(word in text for word in ("25.4%", "0.99000", "0.98000", "0.key, 1.up"))
    for words in ((), ("curves",), ("minilm", "curves"), ("minilm", "--compare-clips")):
        refused("--int4-shares: is of minilm alone", "accuracy", "--int4-shares", *words)
    together = "--operands", "--int4-shares"
    refused("not together with --int4-shares", "accuracy", "minilm", *together)


LOST = {"0.up": 8.0, "0.key": 5.0, "0.query": 1.0, "0.value": 2.0, "0.output": 3.0, "0.down": 4.0}
"""What each product costs: in this order the largest are among the cheapest for a weight."""


def encoder(weights: WeightTypes) -> QuantizedEncoder:
    shape = EncoderShape(layers=1, width=16, heads=1, hidden=48)
    x = random_embeddings(shape, [8], 0)
    return quantize_encoder(random_encoder(shape, 0), x, [8], types=weights)


def packed(model: QuantizedEncoder) -> set[str]:
    integers = model.formats.integers
    return {name for name, each in integers.items() if each.kind is WeightType.INT4}


class Sentences:
    """Cosines that fall by what the products in int4 cost."""

    @staticmethod
    def evaluation_cosines(model: QuantizedEncoder) -> np.ndarray:
        lost = sum(LOST[name] for name in packed(model))
        return np.array([1 - lost / 100, 1 - lost / 50])


class Measure:
    """Losses that are known."""

    def __init__(self, sentences: object, eight: QuantizedEncoder, four: QuantizedEncoder):
        assert packed(eight) == set()
        assert packed(four) == set(LOST)

    def lost(self, names: set[str]) -> float:
        return 1000 + sum(LOST[name] for name in names)


def test_products_follow_each_other_by_what_a_weight_of_each_costs(monkeypatch):
    def model(tell: object, weights: WeightTypes = WEIGHT_CHOICES["int8"]) -> QuantizedEncoder:
        return encoder(weights)

    monkeypatch.setattr(shares, "published_model", model)
    monkeypatch.setattr(shares, "import_extra", lambda _name, _extra: Sentences)
    monkeypatch.setattr(shares, "_Measure", Measure)
    lines = list(share_accuracies())
    assert [each.added for each in lines] == [
        "",
        "0.query, 0.down",
        "0.value",
        "0.up",
        "0.output",
        "0.key",
    ]
    whole = 4 * 16 * 16 + 2 * 16 * 48
    assert lines[1].share == pytest.approx((16 * 16 + 16 * 48) / whole)
    assert lines[1].mean == pytest.approx(1 - 1.5 * (1 + 4) / 100)
    assert lines[-1].least == pytest.approx(1 - sum(LOST.values()) / 50)
    assert [each.products for each in lines] == [0, 2, 3, 4, 5, 6]
