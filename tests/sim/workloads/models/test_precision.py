"""Precisions of products: by a file, by what they cost, saved, and what cannot be."""

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from celosia.sim.workloads.models.precision import left_out
from celosia.sim.workloads.models.samples import read_samples
from celosia.sim.workloads.models.saved_model import load_prepared
from celosia.sw.models.steps import Import, follow
from celosia.sw.quantize.graphs.quantized import run_model
from tests.support.command_line import refused, right
from tests.sw.frontend.importer.models import floats, model

FAST = ("--sim", "functional")
SLOW = ("--mem-bytes-per-cycle", 1)
BUILD = ("build", "m.onnx", "-o", "m.plan", "--calibrate", "c.npz", *SLOW)
SIZES = (32, 64, 32, 20, 16)
NAMES = ("/layer.0/up", "/layer.0/down", "/layer.1/up", "/layer.1/odd")


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nodes, weights, last = [], {}, "x"
    for number, name in enumerate(NAMES):
        weights[f"w{number}"] = floats(SIZES[number], SIZES[number + 1], seed=number)
        nodes.append(helper.make_node("MatMul", [last, f"w{number}"], [f"h{number}"], name=name))
        last = f"y{number}" if number < 3 else "y"
        kind = "Relu" if number < 3 else "Identity"
        nodes.append(helper.make_node(kind, [f"h{number}"], [last], name=f"/end_{number}"))
    proto = model(nodes, {"x": [6, 32]}, ["y"], weights, opset=20)
    Path("m.onnx").write_bytes(proto.SerializeToString())
    np.savez("c.npz", x=floats(8, 6, 32, seed=8))
    np.savez("x.npz", x=floats(6, 32, seed=9))


def four() -> list[str]:
    """The products of the saved model that have int4 weights."""
    (found,) = load_prepared(Path("m.plan"))
    assert found.calibrated is not None
    integers = found.calibrated.formats.integers.values()
    return [NAMES[number] for number, each in enumerate(integers) if each.kind.bits == 4]


def test_a_file_names_products_and_the_saved_model_has_the_choice():
    Path("p.toml").write_text('int4 = ["/layer.*/up"]\nint8 = ["/layer.0/down"]\n')
    text = " ".join(right(*BUILD, "--precision", "p.toml").stdout.split())
    assert "2 of 4 products have int4 weights" in text
    assert four() == ["/layer.0/up", "/layer.1/up"]
    result = right("run", "m.plan", *FAST, *SLOW, "--input", "x.npz")
    assert "by --precision p.toml" in " ".join(result.stdout.split())
    refused("--precision is no option of m.plan", "run", "m.plan", *FAST, "--precision", "auto")


@pytest.mark.parametrize(("samples", "compared"), [(4, 1), (8, 2), (16, 4), (100, 8)])
def test_a_quarter_of_the_samples_at_most_is_compared_on_and_not_calibrated_on(samples, compared):
    all_of_them = [{"x": np.full(2, number)} for number in range(samples)]
    kept, found = left_out(all_of_them)
    places = [int(each["x"][0]) for each in found.samples]
    assert found.fresh
    assert len(places) == compared
    assert sorted([*places, *(int(each["x"][0]) for each in kept)]) == [*range(samples)]
    assert max(np.diff([0, *places, samples])) <= -(-samples // compared), "evenly"


def test_of_fewer_than_four_samples_none_is_left_out():
    samples = [{"x": np.zeros(2)}] * 3
    kept, found = left_out(samples)
    assert len(kept) == len(found.samples) == 3
    assert not found.fresh


def test_what_auto_measures_is_what_the_saved_model_does_to_samples_that_it_left_out():
    text = right(*BUILD, "--precision", "auto", "--least-sqnr", 5).stdout
    assert "dB on 2 samples that calibration left out" in " ".join(text.split())
    (found,) = load_prepared(Path("m.plan"))
    samples = read_samples(Path("c.npz"), follow(Import(Path("m.onnx"))).imported.graph)
    weights = [floats(*size, seed=n) for n, size in enumerate(pairwise(SIZES))]
    lost, signal = 0.0, 0.0
    for number in (2, 6):
        real = samples[number]["x"]
        for place, each in enumerate(weights):
            real = real @ each if place == len(weights) - 1 else np.maximum(real @ each, 0)
        made = run_model(found.model, samples[number]).outputs["y"]
        lost, signal = lost + np.square(real - made).sum(), signal + np.square(real).sum()
    said = re.search(r"chosen: ([\d.]+) dB", text)
    assert said is not None
    assert float(said[1]) == pytest.approx(10 * np.log10(signal / lost), abs=0.051)


def test_auto_takes_what_the_bounds_let_and_says_what_each_product_costs():
    text = right(*BUILD, "--precision", "auto", "--least-sqnr", 5).stdout
    assert four() == list(NAMES[:3]), "all that fit: 5 dB are next to nothing"
    assert all(re.search(rf"{name} .* dB .* int", text) for name in NAMES[:3])
    found = re.search(r"chosen: ([\d.]+) dB, ([\d,]+)", text)
    assert found is not None
    cycles = int(found[2].replace(",", ""))
    least = float(re.findall(r"all int8: ([\d.]+) dB", text)[0])
    said = refused(
        "(on 2 samples that calibration left out, less a standard error)",
        *(*BUILD, "--precision", "auto", "--least-sqnr", least),
    )
    sure = re.search(r"int8 weights reach ([\d.]+) dB", " ".join(said.stderr.split()))
    assert sure is not None
    assert float(sure[1]) < least
    right(*BUILD, "--precision", "auto", "--least-sqnr", float(sure[1]) - 0.1)
    assert len(four()) < 3
    message = "with int4 weights in every product that gains by them"
    Path("m.plan").unlink()
    refused(message, *BUILD, "--precision", "auto", "--most-cycles", cycles // 2)
    refused(
        "--least-sqnr 90: int8 weights reach", *BUILD, "--precision", "auto", "--least-sqnr", 90
    )
    right("run", "m.onnx", *FAST, *SLOW, "--precision", "auto", "--most-cycles", cycles)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'int4 = ["/layer.0/upp"]',
            "int4: /layer.0/upp names no product; did you mean /layer.0/up?",
        ),
        (
            'int4 = ["/*/up"]\nint8 = ["/layer.1/up"]',
            "/layer.1/up is named twice: by int4 /*/up and",
        ),
        ('int4 = ["/layer.0/up", "/layer.0/up"]', "/layer.0/up is named twice"),
        ('int3 = ["/layer.0/up"]', "int3: there are int8, int4, int16; did you mean int"),
        ('int4 = "/layer.0/up"', "int4: is no list of names"),
        ("int4 = [1]", "int4: is no list of names"),
        ("int4 = [", "--precision p.toml: not TOML"),
        ("int4 = " + "[" * 9999, "--precision p.toml: not TOML: it is nested too deeply"),
        ("", "p.toml: names no product"),
    ],
)
def test_files_that_say_nothing_sensible_are_refused(text, message):
    Path("p.toml").write_text(text)
    refused(message, *BUILD, "--precision", "p.toml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--precision", "no.toml"), "--precision no.toml: No such file"),
        (("--precision", "."), "--precision .: is a directory, not a regular file"),
        (("--least-sqnr", 20), "--least-sqnr 20: is a bound of --precision auto"),
        (("--precision", "p.toml", "--most-cycles", 9), "--most-cycles 9: is a bound of"),
        (("--precision", "auto", "--most-cycles", 0), "--most-cycles 0: is not 1 or more"),
        (("--precision", "auto", "--least-sqnr", "nan"), "--least-sqnr nan: is no number of dB"),
        (("--precision", "auto", "--weights", "int4"), "--weights int4: --precision auto chooses"),
    ],
)
def test_options_that_mean_nothing_beside_each_other_are_refused(words, message):
    refused(message, *BUILD, *words)


def test_the_default_is_int8_and_a_note_says_what_int4_would_gain():
    text = " ".join(right(*BUILD).stdout.split())
    assert four() == []
    found = re.search(r"note: int4 weights would take ([\d,]+) .* int8 take ([\d,]+):", text)
    assert found is not None
    less, more = (int(each.replace(",", "")) for each in found.groups())
    assert less < 0.98 * more
