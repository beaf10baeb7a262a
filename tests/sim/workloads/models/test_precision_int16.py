"""Operands of int16: named by a file, chosen by a bound, saved, and what cannot be."""

from pathlib import Path

import numpy as np
import pytest
from onnx import helper

from celosia.sim.workloads.models.saved_model import load_prepared
from tests.support.command_line import refused, right
from tests.sw.frontend.importer.models import floats, model

NAMES = ("/layer.0/down", "/layer.1/down")
FAST = ("--sim", "functional")
BUILD = ("build", "m.onnx", "-o", "m.plan", "--calibrate", "c.npz")
WIDTH = 32


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nodes, weights, last = [], {"g": np.ones(WIDTH, np.float32)}, "x"
    for number, name in enumerate(NAMES):
        weights[f"w{number}"] = 4 * floats(WIDTH, WIDTH, seed=number)
        out = f"r{number}" if number == 0 else "y"
        nodes += [
            helper.make_node("LayerNormalization", [last, "g"], [f"n{number}"], name=f"/n{number}"),
            helper.make_node("MatMul", [f"n{number}", f"w{number}"], [f"h{number}"], name=name),
            helper.make_node("Add", [f"h{number}", last], [out], name=f"/add{number}"),
        ]
        last = out
    proto = model(nodes, {"x": [6, WIDTH]}, ["y"], weights, opset=20)
    Path("m.onnx").write_bytes(proto.SerializeToString())
    np.savez("c.npz", x=floats(8, 6, WIDTH, seed=8))
    np.savez("x.npz", x=floats(6, WIDTH, seed=9))


def wide() -> list[str]:
    """The products of the saved model that read int16."""
    (found,) = load_prepared(Path("m.plan"))
    assert found.calibrated is not None
    formats = found.calibrated.formats
    return [
        name
        for name, tensor in zip(NAMES, formats.integers, strict=True)
        if tensor in formats.int16_operands
    ]


def test_a_file_names_products_and_the_saved_model_has_the_choice():
    Path("p.toml").write_text('int16 = ["/layer.0/*"]\n')
    text = " ".join(right(*BUILD, "--precision", "p.toml").stdout.split())
    assert "1 of 2 products have int16 operands, 50% of all weights, by --precision p.toml" in text
    assert wide() == ["/layer.0/down"]
    result = right("run", "m.plan", *FAST, "--input", "x.npz")
    assert "1 of 2 products have int16 operands" in " ".join(result.stdout.split())


def test_auto_makes_operands_int16_where_int8_misses_the_bound():
    text = right(*BUILD, "--precision", "auto", "--least-sqnr", 30).stdout
    assert wide() == []
    assert "int4 alone" in text
    eight = float(text.split("all int8: ")[1].split()[0])
    text = right(*BUILD, "--precision", "auto", "--least-sqnr", eight + 3).stdout
    assert wide()
    assert "int16 alone" in text
    assert "cycles more" in text
    assert float(text.split("chosen: ")[1].split()[0]) >= eight + 3
    Path("m.plan").unlink()
    refused(
        "dB are reached with int16 operands in every product that can have them",
        *(*BUILD, "--precision", "auto", "--least-sqnr", 99),
    )
    refused(
        "--most-cycles 9: --least-sqnr",
        *(*BUILD, "--precision", "auto", "--least-sqnr", eight + 3, "--most-cycles", 9),
    )


def test_a_product_that_cannot_is_refused_by_name():
    proto = model(
        [
            helper.make_node("MatMul", ["x", "w"], ["h"], name="/up"),
            helper.make_node("Relu", ["h"], ["r"], name="/relu"),
            helper.make_node("MatMul", ["r", "w"], ["y"], name="/down"),
        ],
        {"x": [6, WIDTH]},
        ["y"],
        {"w": floats(WIDTH, WIDTH, seed=0)},
        opset=20,
    )
    Path("m.onnx").write_bytes(proto.SerializeToString())
    for name in ("/up", "/down"):
        Path("p.toml").write_text(f'int16 = ["{name}"]\n')
        refused(f"p.toml: int16: {name} cannot read int16", *BUILD, "--precision", "p.toml")
    Path("p.toml").write_text('int16 = ["/up"]\nint4 = ["/*"]\n')
    refused("/up is named twice", *BUILD, "--precision", "p.toml")
