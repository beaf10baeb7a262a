"""Outputs that lack something name the operators that lose it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.run.models import loss_notes
from celosia.sim.run.models.distances import distances
from celosia.sim.run.models.loss_notes import (
    LossFinder,
    OperatorLoss,
    OutputLoss,
    _worst,
    lacking,
    loss_note,
)
from celosia.sim.run.models.model_checks import checked_run
from celosia.sim.run.models.model_run import ModelRunner
from celosia.sim.support.progress import silent
from celosia.sw.frontend.visible_rows import Rows, interpret_visibly
from celosia.sw.quantize.graphs.exact import exact
from celosia.sw.quantize.graphs.quantized import run_model
from tests.sim.run.models.dense_layer import OPTIONS, prepared
from tests.support.quantized_exports import inputs, quantized, recognized

REAL = np.array([[3.0, 4.0]], np.float32)


def far(name, sqnr_db, exact_sqnr_db):
    (found,) = distances({name: REAL}, {name: REAL + 1}, {name: REAL + 1})
    return replace(found, sqnr_db=sqnr_db, exact_sqnr_db=exact_sqnr_db)


@pytest.mark.parametrize(
    ("numbers", "worst"),
    [
        ({"a": (20.0, 21.9), "b": (35.0, 36.9)}, None),
        ({"a": (20.0, 21.9), "b": (19.9, 18.0)}, "b"),
        ({"a": (29.2, 32.5), "b": (40.0, 40.0)}, "a"),
        ({"a": (29.2, 32.5), "b": (18.0, 18.0), "c": (17.0, 17.5)}, "c"),
        ({"a": (np.inf, np.inf)}, None),
        ({}, None),
    ],
)
def test_outputs_lack_something_below_20_db_or_2_db_below_exact_functions(numbers, worst):
    found = lacking([far(name, *each) for name, each in numbers.items()])
    assert (found and found.name) == worst


def test_notes_say_what_was_measured():
    one = OperatorLoss("/layer.0-1/up/MatMul (MatMul) x2", 2, 19.44, 0.6)
    other = OperatorLoss("/head/Gemm (Gemm)", 1, 25.0, 0.2)
    lost = OutputLoss("y", "integers", (one, other), 7, 7)
    outputs = [far("x", 40.0, 40.0), far("y", 17.71, 18.0)]
    assert loss_note(lost, outputs) == (
        "output y: 17.7 dB; with one operator alone in integers, the rest in float: "
        "/layer.0-1/up/MatMul (MatMul) x2 19.4 dB, /head/Gemm (Gemm) 25.0 dB"
    )
    assert "float (of 1,007 operators 7): /layer" in loss_note(replace(lost, of=1007), outputs)
    assert loss_note(replace(lost, cause="functions", operators=(other,)), outputs) == (
        "output y: 17.7 dB, 18.0 with exact functions; with the accelerator's in one place alone: "
        "/head/Gemm (Gemm) 25.0 dB"
    )


def finder(name):
    given, config = inputs(name, 11), resolve_config("base")
    real, rows = interpret_visibly(recognized(name), given)
    model = quantized(name)
    outputs = run_model(model, given).outputs
    best = run_model(model, given, exact(model, config)).outputs
    (found,) = distances(real, outputs, best, rows)
    return LossFinder(recognized(name), model, config, given, real, rows, silent), found


def test_each_operator_alone_in_integers_keeps_more_than_all():
    find, output = finder("llama")
    found = find.find(replace(output, sqnr_db=19.0))
    assert (found.cause, found.measured) == ("integers", found.of)
    kept = [each.sqnr_db for each in found.operators]
    assert kept == sorted(kept)
    assert kept[0] > output.sqnr_db - 1
    assert 0.5 < sum(each.share for each in found.operators) <= 1
    assert "down_proj" in found.operators[0].node


def test_functions_alone_keep_less_than_exact_ones():
    find, output = finder("bert-17")
    found = find.find(output)
    assert found.cause == "functions"
    assert found.operators
    for each in found.operators:
        assert 20 < each.sqnr_db < output.exact_sqnr_db


def test_where_it_would_take_too_long_some_operators_are_measured(monkeypatch):
    monkeypatch.setattr(loss_notes, "_BUDGET", 0)
    find, output = finder("llama")
    found = find.find(replace(output, sqnr_db=19.0))
    assert found.of == 28
    assert found.measured == 15  # One of each kind: two layers, rotations of two attentions.


def test_a_run_far_from_float_names_its_operator():
    runner = ModelRunner(prepared(), OPTIONS)
    random = np.random.default_rng(5)
    given = {"x": 9 * random.standard_normal((4, 8), np.float32)}
    _, outcome = checked_run(runner, given)
    assert outcome.losses is not None
    (only,) = outcome.losses.operators
    assert only.sqnr_db == pytest.approx(outcome.distances[0].sqnr_db, abs=0.01)
    assert any(note.startswith("output y: ") for note in outcome.notes)
    assert outcome.document()["losses"]["operators"][0]["noise_share"] == 1
    _, outcome = checked_run(runner, {"x": random.standard_normal((4, 8), np.float32)})
    assert outcome.losses is None


def test_alike_operators_lose_together_and_those_that_lose_little_are_not_named():
    """Shares of a noise of 1, beside 0.4 that all have: 10 log10(1 / 1.0), (1 / 0.75), (1 / 0.45).

    A twentieth is the least that is named.
    """
    noises = [
        [("b (Y)", 0.35)],
        [("l.0 (X)", 0.2), ("l.1 (X)", 0.4)],
        [],
        [("small (Z)", 0.05)],
    ]
    found = _worst(noises, 0.4)
    assert [(each.node, each.nodes) for each in found] == [
        ("l.0-1 (X) x2", 2),
        ("b (Y)", 1),
        ("small (Z)", 1),
    ]
    assert [each.sqnr_db for each in found] == pytest.approx([0, 1.2494, 3.4679], abs=1e-4)
    assert [each.share for each in found] == pytest.approx([0.6, 0.35, 0.05])
    less = [*noises[:2], [("small (Z)", 0.04)], [("smaller (Z)", 0.01)]]
    assert [each.node for each in _worst(less)] == ["l.0-1 (X) x2", "b (Y)"]
    three = [[(f"{name} (X)", noise)] for name, noise in zip("abcd", (1, 4, 2, 3), strict=True)]
    assert [each.node[0] for each in _worst(three)] == ["b", "d", "c"]


def test_functions_of_alike_nodes_are_put_in_together(monkeypatch):
    """A signal of 1: exact functions leave a noise of 0.01, those of two norms 0.03, of one 0.02.

    So the two have 0.02 more together, which is two thirds of what all have.
    """
    noises = {("n.0", "n.1"): 0.03, ("gelu",): 0.02}
    ops = [SimpleNamespace(name=name) for name in ("n.0", "gelu", "n.1", "product")]
    segment = SimpleNamespace(graph=SimpleNamespace(ops=ops), node=lambda name: name)
    monkeypatch.setattr(loss_notes, "_has_function", lambda op: op.name != "product")
    monkeypatch.setattr(loss_notes, "exact", lambda *_, but: tuple(but))

    def run(_model, _inputs, but, count):
        out = np.array([[1.0], [np.sqrt(noises[but])]])
        return SimpleNamespace(outputs={"y": out})

    monkeypatch.setattr(loss_notes, "run_model", run)
    real = {"y": np.array([[1.0], [0.0]])}
    rows = {"y": Rows(np.array([True, True]))}
    made: Any = (None, SimpleNamespace(segments=[segment]), None, {}, real, rows, silent)
    found = LossFinder(*made).find(far("y", 20.0, 20.0))
    assert (found.cause, found.measured, found.of) == ("functions", 3, 3)
    assert [(each.node, each.nodes) for each in found.operators] == [("n.0-1 x2", 2), ("gelu", 1)]
    kept = [each.sqnr_db for each in found.operators]
    assert kept == pytest.approx([15.2288, 16.9897], abs=1e-3)
    assert [each.share for each in found.operators] == pytest.approx([2 / 3, 1 / 3])
