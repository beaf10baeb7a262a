"""Jobs: what names them, and what is kept of them."""

import pickle
from dataclasses import replace
from types import SimpleNamespace

import pytest

from celosia.lab.survey.parts import jobs
from celosia.lab.survey.parts.jobs import Job, Run, WrongRunError
from celosia.lab.survey.parts.products import layer_job, layer_products, product_job
from celosia.sim.run.report import Measurement
from celosia.sim.workloads.details import Matmul, given

JOB = Job(workload="matmul", details=Matmul(shape="8x8x8"), array_cycles=2)


def test_a_job_goes_to_another_process():
    assert pickle.loads(pickle.dumps(JOB)) == JOB


def test_settings_rtl_and_compiler_are_in_the_key(monkeypatch):
    known = JOB.key
    others = [replace(JOB, latency=100), replace(JOB, overrides=("scratchpad_kib=64",))]
    assert len({JOB.key, *(other.key for other in others)}) == 3
    assert others[1].netlist != JOB.netlist == others[0].netlist
    monkeypatch.setattr(jobs, "rtl_key", lambda _: "another RTL")
    assert replace(JOB).key != known
    monkeypatch.undo()
    assert replace(JOB).key == known
    monkeypatch.setattr(jobs, "source_version", lambda layers: f"another compiler in {layers}")
    assert replace(JOB).key != known


def test_settings_say_what_was_given():
    job = replace(JOB, overrides=("scratchpad_kib=64",), mode="serial")
    assert job.settings() == {
        "workload": "matmul",
        "shape": "8x8x8",
        "mode": "serial",
        "preset": "base",
        "set": "scratchpad_kib=64",
        "latency": 40,
        "bytes_per_cycle": 16,
    }


def test_a_wrong_run_has_no_numbers():
    right = Measurement(name="it", cycles=5, mismatches=0, elements_checked=1)
    assert Run.of(right).cycles == 5
    for wrong in (replace(right, mismatches=1), replace(right, elements_checked=0)):
        with pytest.raises(WrongRunError, match="it: "):
            Run.of(wrong)


def test_a_job_runs_its_workload_on_its_setting(monkeypatch):
    asked = []

    total = Measurement(name="it", cycles=5, mismatches=0, elements_checked=1)
    parts = [Measurement(name=name, cycles=2) for name in ("0.up", "1.up", "norm")]
    outcome = SimpleNamespace(report=SimpleNamespace(total=total, operators=parts))
    monkeypatch.setattr(jobs, "run_workload", lambda options: asked.append(options) or outcome)
    run = replace(JOB, latency=100).run()
    assert (run.cycles, run.operators) == (5, {"up": 4, "norm": 2})
    assert replace(JOB).kept(run.document()) == run
    assert (asked[0].target.timing.latency, asked[0].details.shape) == (100, "8x8x8")


def test_the_products_of_a_layer_are_all_its_products():
    products = {product.operator: product for product in layer_products()}
    assert products["query, key, value"].count == 4
    assert products["scores"].count == products["context"].count == 12
    macs = sum(product.count * product.macs for product in products.values())
    assert macs == 256 * layer_job(512).array_cycles == 256 * 15_728_640
    assert "transpose_b" in given(product_job(products["scores"]).details)
    assert "transpose_b" not in given(product_job(products["context"]).details)
