"""Operands of more bits: the model of the roundings, and what the command prints of it."""

from functools import cache

import numpy as np
import pytest

from celosia.lab.accuracy import accuracy_command
from celosia.lab.accuracy.operands import OperandAccuracy, Operands, Roundings
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.quantized import instantiate, run_model
from tests.support.command_line import refused, right
from tests.support.quantized_exports import inputs, recognized

SEEDS = range(11, 19)


@cache
def roundings() -> Roundings:
    graph, samples = recognized("llama"), [inputs("llama", seed) for seed in range(1, 9)]
    return Roundings(graph, calibrate(lambda _: graph, samples), samples)


def noise(outputs) -> float:
    """The noise of outputs by their seed, in dB below the signal."""
    shares = []
    for seed in SEEDS:
        given = inputs("llama", seed)
        (real,) = interpret(recognized("llama"), given).values()
        shown = given["attention_mask"] == 1
        lost = real[shown] - outputs(given)[shown]
        shares.append(np.square(lost).sum() / np.square(real[shown]).sum())
    return float(-10 * np.log10(np.mean(shares)))


def reached(operands: Operands) -> float:
    return noise(lambda given: roundings().output(given, operands))


def test_eight_bits_lose_what_the_integer_graph_loses():
    model = instantiate(recognized("llama"), roundings().formats)
    integer = noise(lambda given: next(iter(run_model(model, given).outputs.values())))
    assert abs(reached(Operands(name="8 bits")) - integer) < 1.0


def test_more_bits_lose_less_and_sixteen_next_to_nothing():
    eight, twelve, sixteen, exact = (
        reached(Operands(name="", bits=bits)) for bits in (8, 12, 16, None)
    )
    assert eight + 1.5 < twelve
    assert abs(twelve - sixteen) < 0.5
    assert abs(sixteen - exact) < 1.0
    assert reached(Operands(name="", bits=None, attention=False)) > exact + 0.5


@pytest.mark.parametrize("words", [{"first": True}, {"wide": True}])
def test_only_some_products_are_between(words):
    some = reached(Operands(name="", bits=16, **words))
    assert reached(Operands(name="8 bits")) + 0.3 < some < reached(Operands(name="", bits=16)) + 0.5


def test_rows_with_steps_of_their_own_lose_less():
    assert reached(Operands(name="", rows=True)) > reached(Operands(name="8 bits")) + 0.3


def test_the_command_shows_a_line_for_each_rounding(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    line = OperandAccuracy("llama", "12 bits", 23.84, 21.44)
    monkeypatch.setattr(accuracy_command, "operand_accuracies", lambda _name, _tell: [line])
    text = right("accuracy", "llama", "--operands").stdout
    assert all(word in text for word in ("llama", "12 bits", "23.8 dB", "21.4 dB"))
    for words in (("minilm",), ("llama", "curves"), ("llama", "--compare-clips")):
        refused("--operands: is of models of the catalog", "accuracy", "--operands", *words)
