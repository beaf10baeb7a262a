"""`celosia mappings`."""

import json
from pathlib import Path

import pytest
from onnx import helper
from typer.testing import CliRunner

from celosia.isa.presets import PRESETS
from celosia.lab.mappings import sample
from celosia.lab.mappings.sample import COLUMNS, Request, draw_batch, joined
from celosia.lab.mappings.samplers import Sampler
from celosia.sim.cli import app
from celosia.sim.run.options.options import RunOptions
from celosia.sim.workloads.details import Matmul
from tests.sw.frontend.importer.models import floats, model

OPTIONS = RunOptions(workload="matmul", details=Matmul(shape="24x20x36"))


def run(*words):
    return CliRunner().invoke(app, ["mappings", *words])


def drawn(**changes):
    values = {"options": OPTIONS, "sampler": Sampler.UNIFORM, "count": 30, **changes}
    request = Request(config=PRESETS["tiny"], **values)
    return joined({batch.first: draw_batch(batch) for batch in request.batches()})


def test_plans_do_not_depend_on_how_many_are_drawn(monkeypatch):
    monkeypatch.setattr(sample, "BATCH", 10)
    few, many = drawn(count=20), drawn(count=40)
    assert few.chosen == many.chosen[:20]
    assert (few.values == many.values[:20]).all()
    assert many.chosen[:10] != many.chosen[10:20]
    assert drawn(seed=1).chosen != drawn().chosen


def test_bytes_and_energy_belong_to_the_plan():
    found = drawn()
    cycles, moved, product, energy = found.values.T
    assert (product == cycles * moved).all()
    assert moved.min() >= 24 * 36 + 36 * 20 + 24 * 20
    order = moved.argsort()
    assert (energy / cycles)[order[-1]] > (energy / cycles)[order[0]]


def test_the_document_has_what_the_table_has(tmp_path):
    path = tmp_path / "m.json"
    words = ["matmul", "--shape", "24x20x36", "--preset", "tiny", "--count", "25"]
    done = run(*words, "--json", str(path))
    assert done.exit_code == 0, done.output
    document = json.loads(path.read_text())
    assert document["schema"] == "celosia.mappings/1"
    assert document["count"] == 25
    assert list(document["spread"]) == list(COLUMNS)
    least, most = (document["percentiles"]["cycles"][place] for place in (0, -1))
    assert document["spread"]["cycles"]["least"] == least
    assert document["spread"]["cycles"]["most"] == pytest.approx(most / least)
    assert document["rtl"] is None


def test_the_configuration_is_what_plans_are_of(tmp_path):
    found = {}
    for words in ((), ("--preset", "tiny"), ("--set", "scratchpad_kib=512")):
        path = tmp_path / "m.json"
        done = run("matmul", "--shape", "24x20x36", "--count", "25", *words, "--json", str(path))
        assert done.exit_code == 0, done.output
        found[words] = json.loads(path.read_text())
    base, tiny, larger = found.values()
    assert (base["config"]["dim"], tiny["config"]["dim"]) == (PRESETS["base"].dim, 4)
    assert larger["config"]["scratchpad_kib"] == 512
    # Four rows and columns at a time cannot be as fast as sixteen.
    least = 24 * 20 * 36 / 4**2
    assert tiny["spread"]["cycles"]["least"] >= least > base["spread"]["cycles"]["least"]


def test_every_plan(tmp_path):
    path = tmp_path / "m.json"
    words = ["matmul", "--shape", "4x4x4", "--preset", "tiny", "--count", "1000000"]
    done = run(*words, "--sampler", "every", "--json", str(path))
    assert done.exit_code == 0, done.output
    document = json.loads(path.read_text())
    assert document["count"] == document["combinations"]


def dense(*behind):
    """A file with a product, and operators `behind` it."""
    made = ["x", *(f"t{number}" for number in range(len(behind))), "y"]
    nodes = [helper.make_node("MatMul", ["x", "w"], [made[1]])]
    nodes += [
        helper.make_node(op, [made[number + 1]], [made[number + 2]])
        for number, op in enumerate(behind)
    ]
    proto = model(nodes, {"x": ["rows", 12]}, ["y"], {"w": floats(12, 9)})
    Path("m.onnx").write_bytes(proto.SerializeToString())


def test_one_of_several_products_is_taken_by_its_name(tmp_path):
    path = tmp_path / "m.json"
    words = ("minilm-linears", "--text", "A word.", "--count", "25", "--json", str(path))
    done = run(*words, "--graph", "FFN 1")
    assert done.exit_code == 0, done.output
    document = json.loads(path.read_text())
    assert (document["count"], document["options"]) == (25, "FFN 1")
    done = run(*words)
    assert done.exit_code == 2
    assert "minilm-linears has 6 graphs: give --graph, of 'Q', 'K'" in done.output


@pytest.mark.parametrize("behind", [(), ("Gelu",), ("Sin", "Relu")])
def test_the_product_of_a_file_is_one(tmp_path, monkeypatch, behind):
    monkeypatch.chdir(tmp_path)
    dense(*behind)
    done = run("m.onnx", "--dim", "rows=7", "--preset", "tiny", "--count", "25", "--json", "m.json")
    assert done.exit_code == 0, done.output
    assert json.loads(Path("m.json").read_text())["count"] == 25


def test_what_no_transform_of_elements_finishes_is_refused_with_the_reason(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"]),
        helper.make_node("Add", ["h", "x"], ["y"]),
    ]
    proto = model(nodes, {"x": ["rows", 12]}, ["y"], {"w": floats(12, 12)})
    Path("m.onnx").write_bytes(proto.SerializeToString())
    done = run("m.onnx", "--dim", "rows=7", "--preset", "tiny", "--count", "25")
    assert done.exit_code == 2
    assert "m.onnx: it is no product such as matmul: drain: " in done.output
    assert "add_residual" in done.output
    assert "is more than a transform" in done.output


@pytest.mark.slow
def test_some_plans_run_on_the_rtl(tmp_path):
    path = tmp_path / "m.json"
    words = ["matmul", "--shape", "64x64x64", "--preset", "tiny", "--count", "200"]
    done = run(*words, "--rtl", "12", "--json", str(path))
    assert done.exit_code == 0, done.output
    rtl = json.loads(path.read_text())["rtl"]
    assert len(rtl["plans"]) == 12
    assert rtl["rank_correlation"] > 0.9


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["matmul", "--shape", "8x8"], "--shape"),
        (["softmax", "--shape", "4x4"], "it is no product such as matmul: kind: softmax"),
        (["softmax"], "softmax: give --shape"),
        (["matmul", "--shape", "8x8x8", "--preset", "huge"], "huge"),
        (["matmul", "--shape", "8x8x8", "--set", "dim=3"], "dim"),
        (["matmul", "--shape", "8x8x8", "--output", "x"], "No such option: --output"),
        (["model.onnx"], "model.onnx: No such file"),
        (["matmul", "--shape", "8x8x8", "--executor", "remote"], "--executor remote"),
        (["matmul", "--shape", "8x8x8", "--json", "/no/such/m.json"], "/no/such/m.json"),
    ],
)
def test_bad_words_are_messages(words, message):
    done = run(*words)
    assert done.exit_code == 2
    assert message in done.output
