"""A model as a function: how inputs are given, and what is known of the last call."""

import numpy as np
import pytest

from celosia.sim.run import checks
from celosia.sim.run.models import model_checks
from celosia.sim.run.models.compiled_model import CompiledModel
from celosia.sim.run.models.model_run import ModelRunner
from celosia.sim.support.problems import InputError
from celosia.sw.frontend.nn.random_inputs import random_inputs
from tests.sim.run.models.dense_layer import OPTIONS, layer, prepared
from tests.support.run_options import changed

X = random_inputs(layer(), [], 4)["x"]


@pytest.fixture
def model() -> CompiledModel:
    return CompiledModel(prepared(), OPTIONS)


def test_its_inputs_and_outputs_have_names_types_and_shapes(model):
    assert model.inputs == {"x": ("float32", (4, 8))}
    assert model.outputs == ("y",)


def test_inputs_are_given_in_order_by_name_or_together(model):
    wanted = ModelRunner(prepared(), OPTIONS).run({"x": X}).result.outputs
    for outputs in (model(X), model(x=X), model({"x": X}), model({}, x=X)):
        assert outputs.keys() == {"y"}
        assert np.array_equal(outputs["y"], wanted["y"])


@pytest.mark.parametrize(
    ("arrays", "named", "message"),
    [
        ((X, X), {}, "2 arrays are more than the 1 inputs"),
        (({"x": X}, X), {}, "2 arrays are more than the 1 inputs"),
        ((X,), {"x": X}, "x: this input is given twice"),
        ((), {}, "layer.onnx: x: this input is missing"),
        ((), {"x": X, "z": X}, "layer.onnx: z"),
        ((X[:2],), {}, "layer.onnx: x"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(model, arrays, named, message):
    with pytest.raises(InputError, match=message):
        model(*arrays, **named)


def test_the_last_call_is_remembered(model):
    for use in (lambda: model.cycles, model.report):
        with pytest.raises(InputError, match="the model has not been called, or"):
            use()
    model(X)
    assert model.cycles is None  # The functional model has no clock.
    assert model.report()["mismatches"] == 0


def test_a_call_without_a_check_only_runs_the_device(model, monkeypatch):
    """The same outputs; no model of floats, of exact functions or of integers is evaluated."""
    wanted = model(X)

    def never(*_, **__):
        raise AssertionError("a model was evaluated beside the device")

    for name in ("interpret_visibly", "exact"):
        monkeypatch.setattr(model_checks, name, never)
    monkeypatch.setattr(checks, "interpret", never)
    found = model(X, check=False)
    assert np.array_equal(found["y"], wanted["y"])
    assert model.cycles is None  # The functional model has no clock.
    report = model.report()
    told = [report[key] for key in ("check", "status", "mismatches", "elements_checked", "outputs")]
    assert told == ["none", "unchecked", None, 0, []]
    with pytest.raises(InputError, match=r"layer\.onnx: x"):
        model(X[:2], check=False)
    stopped = CompiledModel(prepared(), changed(OPTIONS, cycle_budget=2))
    with pytest.raises(RuntimeError, match="the accelerator stopped: "):
        stopped(X, check=False)
    assert stopped.report()["status"] == "stopped"


def test_an_accelerator_that_stops_is_an_error():
    stopped = CompiledModel(prepared(), changed(OPTIONS, cycle_budget=2))
    with pytest.raises(RuntimeError, match="the accelerator stopped: CYCLE_BUDGET"):
        stopped(X)
    assert stopped.report()["status"] == "stopped"


def test_a_notebook_shows_its_inputs_and_what_the_last_call_has_shown(model):
    assert "<td>x</td><td>float32</td><td>4x8</td>" in model._repr_html_()
    assert "checked" not in model._repr_html_()
    model(X)
    checked = model.report()["elements_checked"]
    assert f"<td style='text-align: right'>{checked:,}</td></tr>" in model._repr_html_()
