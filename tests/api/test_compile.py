"""`celosia.compile` makes a function of a model: of NumPy arrays, with cycles and a report."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import celosia
from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from tests.support.documents import validate
from tests.support.faulty_devices import Idle, Stopping
from tests.support.plain_models import save_perceptron
from tests.sw.frontend.importer.models import floats
from tests.sw.frontend.importer.source.test_fixed import branching

SIZES = {"batch": 2, "sequence": 8}


def samples(seed):
    return EXPORTS["bert-17"].inputs(SMALL, seed, batch=2, tokens=8)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    found = tmp_path_factory.mktemp("models") / "bert.onnx"
    found.write_bytes(EXPORTS["bert-17"].build(SMALL).SerializeToString())
    return found


@pytest.fixture(scope="module")
def model(path):
    drawn = [samples(seed) for seed in range(1, 65)]
    calibration = {name: np.stack([each[name] for each in drawn]) for name in drawn[0]}
    options = {"preset": "base", "calibration": calibration, "sizes": SIZES}
    return celosia.compile(str(path), simulator="functional", **options)


def test_a_model_is_a_function_of_arrays(model):
    given = samples(0)
    outputs = model(given)
    assert outputs.keys() == {"last_hidden_state"} == set(model.outputs)
    assert outputs["last_hidden_state"].shape == (2, 8, 64)
    by_name, in_order = model(**given), model(*(given[name] for name in model.inputs))
    for other in (by_name, in_order):
        assert np.array_equal(other["last_hidden_state"], outputs["last_hidden_state"])


def test_the_report_is_that_of_the_command(model):
    model(samples(101))
    report = model.report()
    validate(report)
    assert report["mismatches"] == 0
    assert report["placement"]["accelerator_mac_share"] == 1
    kept = report["outputs"][0]["sqnr_db"]
    assert 25 < kept < 32
    (note,) = report["notes"]
    assert note.startswith(f"output last_hidden_state: {kept:.1f} dB, 37.8 with exact functions")
    assert model.cycles is None, "the functional simulator has no clock"


def test_programs_are_compiled_once_for_a_mask(model, monkeypatch):
    model(samples(0))
    monkeypatch.setattr("celosia.sim.run.models.model_run.compile_one", None)
    model(samples(0))


@pytest.mark.parametrize(
    ("device", "message"),
    [(Idle, "elements differ from the integer graph"), (Stopping, "stopped: watchdog: no pro")],
)
def test_what_is_wrong_is_no_result(model, monkeypatch, device, message):
    def opened(name, config, timing, memory_bytes, *, progress):
        return device(config, memory_bytes=memory_bytes)

    monkeypatch.setattr(model._runner, "opener", opened)
    with pytest.raises(RuntimeError, match=message):
        model(samples(0))
    assert model.report()["mismatches"] or model.report()["failure"], "it says what was wrong"


@pytest.mark.parametrize(
    ("arrays", "named", "message"),
    [
        ((), {}, "input_ids: this input is missing"),
        ((1, 2, 3, 4), {}, "4 arrays are more than the 3 inputs"),
        ((np.zeros((2, 8), np.int64),), {"input_ids": 0}, "input_ids: this input is given twice"),
        ((np.zeros((2, 9), np.int64),), {}, "input_ids: this input is int64"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(model, arrays, named, message):
    full = {} if not arrays else {k: v for k, v in samples(0).items() if k != "input_ids"}
    with pytest.raises(ValueError, match=message):
        model(*arrays, **full, **named)


def test_an_input_that_is_set_is_no_input(tmp_path):
    path = tmp_path / "branching.onnx"
    path.write_bytes(branching().SerializeToString())
    x = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
    options = {"simulator": "functional", "set_input": {"cached": True}}
    model = celosia.compile(path, calibration={"x": np.stack([x] * 64)}, **options)
    assert model.inputs.keys() == {"x"}
    np.testing.assert_allclose(model(x)["y"], x @ floats(4, 4), atol=0.05)
    with pytest.raises(ValueError, match=r"--set-input cached=2: .* is not true or false"):
        celosia.compile(path, set_input={"cached": 2})


def test_what_cannot_be_compiled_is_refused(path, tmp_path):
    with pytest.raises(ValueError, match="nowhere"):
        celosia.compile(tmp_path / "nowhere.onnx")
    with pytest.raises(ValueError, match="sequence"):
        celosia.compile(path, sizes={"batch": 2})
    with pytest.raises(ValueError, match="calibration: x is"):
        celosia.compile(path, sizes=SIZES, calibration={"x": np.zeros((1, 2))})
    with pytest.raises(ValueError, match="medium"):
        celosia.compile(path, sizes=SIZES, preset="medium")
    with pytest.raises(ValueError, match="has not been called"):
        celosia.compile(path, sizes=SIZES).report()


def test_importing_celosia_imports_nothing_else():
    code = "import celosia, sys; print([name for name in sys.modules if 'celosia.' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_model_for_stores_alone_has_one_scale_and_says_what_that_costs(tmp_path):
    save_perceptron(tmp_path / "m.onnx")
    compiled = partial(celosia.compile, preset="gemmini4", simulator="functional")
    with pytest.raises(ValueError, match=r"m.onnx: between \(Relu\): requantize .* --per-tensor"):
        compiled(tmp_path / "m.onnx")
    model = compiled(tmp_path / "m.onnx", per_tensor=True)
    model(np.zeros((16, 24), np.float32))
    assert any("that costs" in note for note in model.report()["notes"])
