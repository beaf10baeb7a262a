"""The float graph of a decoder of Llama's form, against one that is written token by token."""

import cmath
import math

import numpy as np
import pytest

from celosia.lab.training.scorers import float_scorer
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.language.shape import tensor_shapes
from celosia.sw.reference.language.weights import LlamaWeights
from tests.support.language import TINY, UNLIKE, random_weights

TOKENS = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]


def plain_logits(weights: LlamaWeights, tokens: list[int]) -> np.ndarray:
    """The last token's logits in float64, one vector after the other."""
    shape = weights.shape

    def norm(x, gamma):
        return np.asarray(x) / math.sqrt(np.dot(x, x) / len(x) + 1e-5) * gamma

    def turned(head, place):
        half = len(head) // 2
        turns = [cmath.exp(1j * place * 10_000 ** (-index / half)) for index in range(half)]
        pairs = [complex(head[i], head[i + half]) * turns[i] for i in range(half)]
        return [pair.real for pair in pairs] + [pair.imag for pair in pairs]

    def heads(x, count, place=None):
        parts = [list(part) for part in np.split(np.asarray(x), count)]
        return parts if place is None else [turned(part, place) for part in parts]

    rows = [weights["embedding"][token].astype(float) for token in tokens]
    for index, sizes in enumerate(shape.layers):
        layer = {name: weights[f"{index}.{name}"].astype(float) for name in names()}
        inputs = [np.asarray(norm(row, layer["attention_norm"])) for row in rows]
        keys = [heads(x @ layer["key"], sizes.key_heads, place) for place, x in enumerate(inputs)]
        values = [heads(x @ layer["value"], sizes.key_heads) for x in inputs]
        for place, x in enumerate(inputs):
            context = []
            for head, q in enumerate(heads(x @ layer["query"], sizes.heads, place)):
                group = head * sizes.key_heads // sizes.heads
                seen = range(place + 1)
                scores = [np.dot(q, keys[at][group]) / math.sqrt(len(q)) for at in seen]
                powers = [math.exp(score) for score in scores]
                total = sum(powers)
                parts = [powers[at] / total * np.asarray(values[at][group]) for at in seen]
                context += np.sum(parts, axis=0).tolist()
            row = rows[place] + np.asarray(context) @ layer["output"]
            y = np.asarray(norm(row, layer["norm"]))
            gate = y @ layer["gate"]
            hidden = gate / (1 + np.exp(-gate)) * (y @ layer["up"])
            rows[place] = row + hidden @ layer["down"]
    return np.asarray(norm(rows[-1], weights["norm"])) @ weights["embedding"].T.astype(float)


def names() -> set[str]:
    return {name.partition(".")[2] for name in tensor_shapes(TINY) if name.startswith("0.")}


@pytest.mark.parametrize("shape", [TINY, UNLIKE], ids=["alike", "unlike"])
def test_it_is_what_a_plain_decoder_computes(shape):
    weights = random_weights(shape)
    found = float_scorer(llama_float_graph(weights, 20))(TOKENS)
    for length in (1, 2, len(TOKENS)):
        expected = plain_logits(weights, TOKENS[:length])
        np.testing.assert_allclose(found[length - 1], expected, atol=2e-5)


def test_tensors_are_named_after_what_they_are():
    graph = llama_float_graph(random_weights(), 20)
    names = {node.name for node in graph.nodes}
    inside = ("input", "query", "key", "value", "context", "attention_sum", "attention", "gate")
    inside += ("up", "hidden", "down", "sum")
    assert names >= {f"{index}.{name}" for index in range(len(TINY.layers)) for name in inside}
    assert graph.outputs == {"logits": "logits"}
