"""Seeded cases: each computes something, and the same for the same seed."""

from functools import cache

import numpy as np
import pytest

from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import (
    activation_case,
    attention_case,
    encoder_case,
    encoder_layer_case,
    layernorm_case,
    matmul_case,
    random_quantized_encoder,
    residual_case,
    softmax_case,
)
from celosia.sw.reference.encoder import EncoderShape

SHAPE = EncoderShape(layers=2, width=32, heads=4, hidden=64)


@cache
def model(seed):
    return random_quantized_encoder(SHAPE, seed)


CASES = {
    "matmul": lambda seed: matmul_case(9, 20, 33, seed),
    "softmax": lambda seed: softmax_case(9, 20, seed),
    "softmax of int16": lambda seed: softmax_case(9, 20, seed, kind="int16"),
    "gelu": lambda seed: activation_case("gelu", 9, 20, seed),
    "residual": lambda seed: residual_case(9, 20, seed),
    "layernorm": lambda seed: layernorm_case(9, 20, seed),
    "attention": lambda seed: attention_case(2, 9, 16, seed),
    "encoder layer": lambda seed: encoder_layer_case(
        random_quantized_encoder(SHAPE, seed), [9], seed
    ),
    "encoder": lambda seed: encoder_case(model(seed), [4, 5], seed),
}


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_a_case_is_that_of_its_seed(make):
    case, same, other = make(3), make(3), make(4)
    assert str(case.graph) == str(same.graph)
    results = [interpret(one.graph, one.inputs) for one in (case, same, other)]
    for name in case.graph.outputs:
        first, again, different = (values[name] for values in results)
        assert (first == again).all()
        assert (first != different).any()


@pytest.mark.parametrize("make", CASES.values(), ids=CASES)
def test_results_use_their_range(make):
    case = make(3)
    values = interpret(case.graph, case.inputs)
    for name in case.graph.outputs:
        largest = np.iinfo(values[name].dtype).max
        assert len(np.unique(values[name])) > 15
        assert (values[name] == largest).mean() < 0.2


def test_inputs_differ_between_texts_of_different_seeds():
    one, other = (encoder_case(model(0), [4], seed).inputs["embedding.wide"] for seed in (1, 2))
    assert (one != other).any()
