"""How much of a run is compared, and that nobody is told of more than that."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.command.outputs.table_cells import mismatches, run_caption
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.run.checks import compare_graph, expected_of
from celosia.sim.run.measure_graph import measure_graph
from celosia.sim.run.options.options import RunOptions, Target, Watching
from celosia.sim.run.programs.known_program import KnownProgram
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import Matmul
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.models.cases import encoder_layer_case, random_quantized_encoder
from celosia.sw.reference.encoder import EncoderShape

TINY = PRESETS["tiny"]
CASE = encoder_layer_case(
    random_quantized_encoder(EncoderShape(layers=2, width=16, heads=2, hidden=32), 0), [3], 0
)
PROGRAM = KnownProgram(CASE.graph, compile_graph(CASE.graph, TINY))
*_, OUTPUT = CASE.graph.outputs
EXPECTED = expected_of(CASE, TINY)


def spoiled(tensor, check):
    """What is compared of a run behind which a bit of a tensor in memory changes."""
    device = FunctionalDevice(TINY, memory_bytes=1 << 20)
    measured = measure_graph("x", device, PROGRAM, CASE.inputs)
    address = PROGRAM.compiled.addresses[tensor]
    device.write(address, bytes([device.read(address, 1)[0] ^ 4]))
    return compare_graph(measured, EXPECTED, check)


def test_a_measured_graph_is_not_compared_by_itself():
    device = FunctionalDevice(TINY, memory_bytes=1 << 20)
    measured = measure_graph("x", device, PROGRAM, CASE.inputs)
    for each in (measured.whole, *measured.groups):
        assert (each.mismatches, each.elements_checked, each.right) == (None, 0, False)
    assert compare_graph(measured, EXPECTED, "none") is measured


def test_outputs_alone_are_compared_if_that_is_asked():
    between = next(name for name in PROGRAM.compiled.addresses if name.endswith("query.heads"))
    assert spoiled(between, "all").whole.mismatches == 1
    found = spoiled(between, "outputs")
    assert (found.whole.mismatches, found.whole.elements_checked) == (0, 2 * 3 * 16)
    assert spoiled(OUTPUT, "outputs").whole.mismatches == 1
    shown = [mismatches(each) for each in found.groups]
    assert shown[:-1] == ["-"] * (len(shown) - 1)
    assert "0 of 96" in shown[-1]


class Wrong(FunctionalDevice):
    """Computes nothing."""

    def run(self, program, issue="stream", marks=()):
        return super().run(program[:1], issue)


def wrong(name, config, timing=None, memory_bytes=1 << 20, *, progress=silent):
    return Wrong(config, memory_bytes=memory_bytes)


def asked(check, workload="matmul", details=None, **target):
    return RunOptions(
        workload=workload,
        details=details,
        target=Target(simulator="functional", preset="tiny", **target),
        watching=Watching(check=check),
    )


@pytest.mark.parametrize(("check", "status"), [("all", "wrong"), ("outputs", "wrong")])
def test_a_product_is_its_output(check, status):
    report = run_workload(asked(check, details=Matmul(shape="5x6x7")), opener=wrong).report
    assert report.document()["status"] == status
    assert report.total.elements_checked == 30
    assert report.exit_code == 1


def test_nothing_is_said_of_what_was_not_compared():
    report = run_workload(asked("none", details=Matmul(shape="5x6x7")), opener=wrong).report
    document = report.document()
    for each in (document, *document["operators"]):
        told = (each["check"], each["mismatches"], each["elements_checked"])
        assert told == ("none", None, 0)
    assert document["status"] == "unchecked"
    assert report.exit_code == 0
    assert run_caption(report.setting).endswith("; nothing was compared")
    stopped = asked("none", details=Matmul(shape="5x6x7"), cycle_budget=1)
    report = run_workload(stopped).report
    assert (report.document()["status"], report.exit_code) == ("stopped", 1)


def test_a_program_that_names_no_result_runs_without_a_comparison(tmp_path):
    path = tmp_path / "x.cel"
    path.write_text(".preset tiny\nconfig_ld stride=4\n")
    with pytest.raises(InputError, match=r"nothing to compare: .* or run it with --check none"):
        run_workload(asked("all", str(path)))
    report = run_workload(asked("none", str(path))).report
    assert (report.document()["status"], report.total.commands) == ("unchecked", 1)


def test_what_is_predicted_is_of_the_memory_that_a_program_runs_on():
    slow = KnownProgram(PROGRAM.graph, PROGRAM.compiled, MemoryTiming(latency=500))
    assert slow.prediction.cycles > PROGRAM.prediction.cycles + 400
    assert sum(each["commands"] for each in slow.parts.values()) <= slow.commands
