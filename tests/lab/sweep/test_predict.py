"""What a run is expected to show, beside what it shows."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.sweep.predict import predict_workload
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.details import Attention, Matmul, Softmax


@pytest.mark.parametrize(
    ("workload", "details"),
    [
        ("matmul", Matmul(shape="20x33x17")),
        ("attention", Attention(heads=2, seq=9, dim=8)),
    ],
)
def test_bytes_are_those_of_the_program_and_cycles_those_of_the_timeline(workload, details):
    options = RunOptions(
        workload=workload,
        details=details,
        target=Target(preset="tiny", simulator="functional"),
    )
    found = predict_workload(options, resolve_config("tiny"))
    total = run_workload(options).report.total
    assert (found.read_bytes, found.write_bytes) == (total.dram_read_bytes, total.dram_write_bytes)
    if total.predicted_cycles is not None:
        assert found.cycles == total.predicted_cycles


def test_what_does_not_fit_is_refused():
    options = RunOptions(
        workload="softmax", details=Softmax(shape="4x4"), target=Target(preset="small")
    )
    with pytest.raises(InputError):
        predict_workload(options, resolve_config("small"))
