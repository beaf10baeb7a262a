"""Random models are compared with another runtime; what differs, raises or is left out is found."""

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import helper

from celosia.lab.fuzz.batches import run_batch
from celosia.lab.fuzz.findings import Plan, What
from celosia.lab.fuzz.models import check
from celosia.lab.fuzz.models.check import difference, expected
from celosia.lab.fuzz.models.random_model import RandomModel, random_model
from celosia.sw.frontend.recognize.recognize import PASSES
from tests.sw.frontend.importer.models import floats, model

PLAN = Plan(
    preset="tiny",
    overrides=(),
    simulator="functional",
    seconds=1,
    seed=0,
    place=".",
    what=What.MODELS,
)


def raising(*_, **__):
    raise ZeroDivisionError("planted")


def plain():
    """A product, and one row of it."""
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Gather", ["h", "row"], ["g"], axis=1),
        helper.make_node("MatMul", ["g", "w"], ["y"]),
    ]
    constants = {"w": floats(8, 8), "row": np.array(2)}
    random = np.random.default_rng(0)
    samples = random.standard_normal((32, 1, 4, 8)).astype(np.float32)
    proto = model(nodes, {"x": [1, 4, 8]}, ["y"], constants)
    return RandomModel(proto, {"x": samples[0]}, {"x": samples}, ())


# At night also 4 and 5, which take longer than all others of the first sixteen together.
@pytest.mark.parametrize(
    ("first", "behind"),
    [
        *((0, 4), (6, 12), (12, 16)),
        *(pytest.param(n, m, marks=pytest.mark.nightly) for n, m in ((4, 6), (16, 28), (28, 40))),
    ],
)
def test_random_models(first, behind):
    seeds = range(first, behind)
    assert {s: why for s in seeds if (why := difference(random_model(s), PLAN))} == {}


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(1_000, 9_000, 100))
def test_many_random_models(first):
    seeds = range(first, first + 100)
    assert {s: why for s in seeds if (why := difference(random_model(s), PLAN))} == {}


@pytest.mark.parametrize("other", [True, False])
def test_either_runtime_tells_what_is_right(monkeypatch, other):
    if other:
        monkeypatch.setattr(check, "find_spec", lambda _: None)
    found = plain()
    weights = floats(8, 8)
    (got,) = expected(found.proto, [found.inputs])
    wanted = (found.inputs["x"] @ weights)[:, 2] @ weights
    np.testing.assert_allclose(got["y"], wanted, rtol=1e-4, atol=1e-5)
    assert difference(found, PLAN) == ""


def test_another_result_is_found():
    right = plain()
    proto = onnx.ModelProto()
    proto.CopyFrom(right.proto)
    (row,) = [each for each in proto.graph.initializer if each.name == "row"]
    row.CopyFrom(onnx.numpy_helper.from_array(np.array(1), "row"))
    truth = expected(proto, [right.inputs])[0]
    (why,) = list(check._floats(truth, expected(right.proto, [right.inputs])[0]))
    assert why.startswith("y differs by ")
    (why,) = list(check._integers([truth], expected(right.proto, [right.inputs])[0]))
    assert why.startswith("y differs by ")
    assert next(check._floats({"y": np.zeros(3)}, {"y": np.zeros((3, 1))})).startswith("y is ")


def test_what_raises_is_found(monkeypatch):
    monkeypatch.setattr(check, "prepare", raising)
    assert difference(plain(), PLAN) == "it raises ZeroDivisionError: planted"


def test_a_pass_that_is_left_out_is_found(monkeypatch, mistakes):
    monkeypatch.setitem(PASSES, "orders", raising)
    assert difference(plain(), PLAN).startswith("pass orders is left out: ZeroDivisionError")
    assert mistakes
    mistakes.clear()


def test_a_failure_is_a_file_with_its_reason(monkeypatch, tmp_path):
    monkeypatch.setattr(check, "prepare", raising)
    batch = run_batch(replace(PLAN, place=str(tmp_path)), 3)
    ((name, why),) = batch.found.failures
    assert why == "it raises ZeroDivisionError: planted"
    seed = 3 * 20 + batch.found.cases - 1
    assert onnx.load(name) == random_model(seed).proto
    assert batch.files[name] == random_model(seed).proto.SerializeToString()
    assert any(point.startswith("step ") for point in batch.found.points)
