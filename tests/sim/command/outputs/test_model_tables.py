"""`celosia run MODEL.onnx` runs all of a model, and says how far it is from float."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from tests.support.command_line import refused, right
from tests.support.documents import validate

FAST = ("--sim", "functional")
SIZES = ("--dim", "batch=2", "--dim", "sequence=8")
SAMPLES = range(1, 65)
"""Seeds of calibration: a thousand tokens, which a hundred do not stand for."""


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("bert-17", "vit"):
        Path(f"{name}.onnx").write_bytes(EXPORTS[name].build(SMALL).SerializeToString())


def test_a_bert_with_inputs_and_calibration():
    given: dict[str, Any] = {**EXPORTS["bert-17"].inputs(SMALL, 0, batch=2, tokens=8)}
    samples = [EXPORTS["bert-17"].inputs(SMALL, seed, batch=2, tokens=8) for seed in SAMPLES]
    np.savez("x.npz", **given)
    stacked: dict[str, Any] = {name: np.stack([each[name] for each in samples]) for name in given}
    np.savez("c.npz", **stacked)
    result = right(
        *("run", "bert-17.onnx", *FAST, *SIZES, "--input", "x.npz", "--calibrate", "c.npz"),
        *("--json", "j.json"),
    )
    assert "0 of" in result.stdout
    assert "differ from the integer graph; 100.00%" in " ".join(result.stdout.split())
    assert "random data" not in result.stdout
    document = json.loads(Path("j.json").read_text())
    validate(document)
    assert document["mismatches"] == 0
    assert document["elements_checked"] > 10_000
    assert document["placement"]["accelerator_mac_share"] == 1
    (output,) = document["outputs"]
    assert output["name"] == "last_hidden_state"
    assert output["sqnr_db"] > 15
    assert abs(output["exact_sqnr_db"] - output["sqnr_db"]) < 6
    assert output["cosine"] > 0.98
    # Of the second text, the last token is padding.
    hidden = int((given["attention_mask"] == 0).sum())
    assert hidden == 1
    assert output["rows"] == {"counted": 15, "of": 16, "spans": [[0, 14]], "elements": False}
    assert output["all_rows_sqnr_db"] != output["sqnr_db"]
    assert output["pooled_cosine"] > 0.99
    words = " ".join(result.stdout.split())
    assert "last_hidden_state: 15 of 16 rows counted, those of tokens that somebody sees" in words
    assert "100.00% of the 1,081,344 multiply-accumulates are the accelerator's, and" in words
    predicted = document["placement"]["predicted"]
    cycles = predicted["accelerator_cycles"]
    assert cycles == document["predicted_cycles"]
    assert predicted["accelerator_time_share"] == cycles / (cycles + predicted["host_cycles"])
    assert "in 1 segment differ" in words


def test_notes_on_inputs_far_away_and_on_few_rows():
    given = EXPORTS["vit"].inputs(SMALL, 0)["pixel_values"]
    np.savez("c.npz", pixel_values=np.stack([given, -given]))
    np.savez("x.npz", pixel_values=np.float32(40) * given)
    run = ("run", "vit.onnx", *FAST, "--dim", "batch=1", "--calibrate", "c.npz")
    text = " ".join(right(*run, "--input", "x.npz").stdout.split())
    assert "note: pixel_values: its elements are in" in text
    assert "note: few rows of calibration: 32 for the 192 columns of" in text
    built = ("build", *run[1:2], *run[4:], "-o", "m.plan")
    assert "few rows of calibration" in right(*built).stdout
    result = right("run", "m.plan", *FAST, "--input", "x.npz")
    assert "note: pixel_values: its elements are in" in result.stdout
    assert "SQNR" not in result.stdout
    given[0, 0, 0, 0] = np.inf
    np.savez("x.npz", pixel_values=given)
    refused("pixel_values: infinity in 1 of its 3,072 elements", *run, "--input", "x.npz")


def test_random_data_is_said_and_segments_are_added_up():
    result = right("run", "vit.onnx", *FAST, "--dim", "batch=1", "--json", "j.json")
    text = " ".join(result.stdout.split())
    assert "note: calibrated on random data" in text
    assert "elements in 2 segments differ" in text
    assert "warning: 4 operators run on the host: 2 reshape, 1 transpose, 1 concat" in text
    document = json.loads(Path("j.json").read_text())
    validate(document)
    assert [each["workload"] for each in document["operators"]] == ["segment 0", "segment 1"]


def test_what_cannot_be_run_is_refused():
    np.savez("x.npz", input_ids=np.zeros((2, 8), np.int64))
    run = ("run", "bert-17.onnx", *FAST)
    refused("sequence", *run, "--dim", "batch=2")
    refused("attention_mask: this input is missing", *run, *SIZES, "--input", "x.npz")
    refused("--shape is no option of bert-17.onnx", *run, *SIZES, "--shape", "1x2")
    refused("nowhere.npz", *run, *SIZES, "--calibrate", "nowhere.npz")
    refused(
        "--input is no option of matmul", "run", "matmul", "--shape", "4x4x4", "--input", "x.npz"
    )
    refused("is not one whole number", "run", "attention", *SIZES, "--heads", "2", "--seq", "8")


@pytest.mark.parametrize(
    ("samples", "value", "message"),
    [
        (2, np.float32(1), "all its arrays are constant"),
        (0, np.float32(1), "one number, not 0, is needed"),
        (None, np.float32(1), "pixel_values is (1, "),
        (2, np.int64(1), "c.npz: pixel_values is of int64, not float32"),
        (2, "a", "c.npz: pixel_values is of <U1, not float32"),
        (2, {}, "Object arrays cannot be loaded"),
    ],
)
def test_calibration_that_does_not_fit_is_refused(samples, value, message):
    shape = EXPORTS["vit"].inputs(SMALL, 0)["pixel_values"].shape
    np.savez("c.npz", pixel_values=np.full(shape if samples is None else (samples, *shape), value))
    refused(message, "run", "vit.onnx", *FAST, "--dim", "batch=1", "--calibrate", "c.npz")


def test_masks_that_are_padded_on_the_left_are_added_to_scores():
    def drawn(seed):
        given: dict[str, Any] = {**EXPORTS["bert-17"].inputs(SMALL, seed, batch=2, tokens=8)}
        given["attention_mask"] = np.ones((2, 8), np.int64)
        given["attention_mask"][1, : 1 + seed % 4] = 0
        return given

    np.savez("x.npz", **drawn(0))
    run = ("run", "bert-17.onnx", *FAST, *SIZES, "--input", "x.npz")
    refused("attention_mask: its rows must be 1s, one at least, and then 0s", *run)
    samples = [drawn(seed) for seed in SAMPLES]
    stacked: dict[str, Any] = {name: np.stack([s[name] for s in samples]) for name in samples[0]}
    np.savez("c.npz", **stacked)
    result = right(*run, "--calibrate", "c.npz", "--json", "j.json")
    assert "note: attention_mask: not padded on the right: added to scores" in result.stdout
    document = json.loads(Path("j.json").read_text())
    assert document["mismatches"] == 0
    assert document["placement"]["accelerator_mac_share"] == 1
    assert document["outputs"][0]["sqnr_db"] > 15
