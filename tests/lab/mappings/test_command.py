"""`celosia mappings`."""

import json

import pytest
from typer.testing import CliRunner

from celosia.isa.presets import PRESETS
from celosia.lab.mappings import sample
from celosia.lab.mappings.sample import COLUMNS, Request, draw_batch, joined
from celosia.lab.mappings.samplers import Sampler
from celosia.sim.cli import app
from celosia.sim.run.options.options import RunOptions
from celosia.sim.workloads.details import Matmul

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
        (["softmax"], "it is no product"),
        (["matmul", "--shape", "8x8x8", "--preset", "huge"], "huge"),
        (["matmul", "--shape", "8x8x8", "--set", "dim=3"], "dim"),
        (["matmul", "--shape", "8x8x8", "--output", "x"], "No such option: --output"),
        (["model.onnx"], "model.onnx: it is no product"),
        (["matmul", "--shape", "8x8x8", "--executor", "remote"], "--executor remote"),
        (["matmul", "--shape", "8x8x8", "--json", "/no/such/m.json"], "/no/such/m.json"),
    ],
)
def test_bad_words_are_messages(words, message):
    done = run(*words)
    assert done.exit_code == 2
    assert message in done.output
