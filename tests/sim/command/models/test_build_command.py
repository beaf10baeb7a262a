"""A plan runs without the model that it was built from, on the configuration it was built for."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from celosia.lab.exports.catalog import EXPORTS
from celosia.lab.exports.writing.size import SMALL
from celosia.sim.command.models import build_command
from celosia.sw.models.cases import random_quantized_encoder
from celosia.sw.quantize.encoders.encoder_file import load_encoder
from celosia.sw.reference.encoder import EncoderShape
from tests.support.command_line import refused, right
from tests.sw.frontend.importer.models import floats
from tests.sw.frontend.importer.source.test_fixed import branching

FAST = ("--sim", "functional")
RUN = ("run", "m.plan", *FAST)


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_plan_is_built_and_run_and_refused_elsewhere():
    Path("m.onnx").write_bytes(EXPORTS["vit"].build(SMALL).SerializeToString())
    given: dict[str, Any] = {**EXPORTS["vit"].inputs(SMALL, 0)}
    np.savez("x.npz", **given)
    refused("ends with .plan", "build", "m.onnx", "-o", "m.zip", "--dim", "batch=1")
    result = right("build", "m.onnx", "-o", "m.plan", "--dim", "batch=1")
    assert "note: calibrated on random data" in result.stdout
    Path("m.onnx").unlink()
    result = right(*RUN, "--input", "x.npz", "--json", "j.json")
    assert "elements in 2 segments differ" in " ".join(result.stdout.split())
    document = json.loads(Path("j.json").read_text())
    assert document["mismatches"] == 0
    assert document["placement"]["accelerator_mac_share"] == 1
    refused("give --input", *RUN)
    refused(
        "--dim is no option of m.plan, which has its sizes and its calibration",
        *RUN,
        "--dim",
        "batch=1",
    )
    refused("--set-input is no option of m.plan", *RUN, "--set-input", "x=1")
    text = " ".join(right(*RUN, "--input", "x.npz", "--preset", "tiny").stdout.split())
    assert "planned anew: what is saved was decided for dim = 16, not 4, " in text
    Path("m.plan").write_bytes(Path("m.plan").read_bytes()[:5000])
    refused("m.plan: is no whole plan", *RUN, "--input", "x.npz")


def test_an_input_is_fixed_in_a_plan_and_in_a_run():
    Path("m.onnx").write_bytes(branching().SerializeToString())
    refused("give --set-input cached=VALUE", "build", "m.onnx", "-o", "m.plan")
    fixed = ("--set-input", "cached=true")
    right("build", "m.onnx", "-o", "m.plan", *fixed)
    x: dict[str, Any] = {"x": floats(3, 4, seed=1)}
    np.savez("x.npz", **x)
    right(*RUN, "--input", "x.npz")
    result = right("run", "m.onnx", *FAST, *fixed, "--input", "x.npz")
    assert "note: input cached is true from here on" in result.stdout


def test_the_published_model_is_built_once_for_texts_of_any_lengths(monkeypatch):
    shape = EncoderShape(layers=1, width=16, heads=2, hidden=32)
    model, clips = random_quantized_encoder(shape, 0), []

    def published(_tell, clip):
        clips.append(clip)
        return model

    monkeypatch.setattr(build_command, "published_model", published)
    shown = right("build", "minilm", "-o", "e.plan", "--clip", "minmax").stdout
    assert "e.plan: an encoder of 1x16, 2 heads, 32 hidden" in " ".join(shown.split())
    assert clips == ["minmax"]
    assert load_encoder(Path("e.plan")).graph([3, 9]).macs == model.graph([3, 9]).macs
    refused("--dim: not with minilm", "build", "minilm", "-o", "f.plan", "--dim", "batch=1")
    refused("--preset: not with minilm", "build", "minilm", "-o", "f.plan", "--preset", "tiny")
    refused("`celosia run encoder --model FILE --text TEXT` takes it", "run", "e.plan", *FAST)
