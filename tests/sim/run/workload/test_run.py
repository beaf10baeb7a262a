"""Runs of workloads on the functional model: what is opened, compared, reported and refused."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS, resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.run.graph_run import compile_for, needed_memory
from celosia.sim.run.options.given_plans import GivenPlan
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.outcome import setting_of
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.problems import InputError
from celosia.sim.wave.request import WaveRequest
from celosia.sim.workloads.details import Attention, Matmul
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.matmul import MatMul
from celosia.sw.planning.problems import graph_of
from tests.support.faulty_devices import Idle
from tests.support.run_options import changed

MIB = 1 << 20
PRODUCT = RunOptions(
    workload="matmul",
    details=Matmul(shape="9x7x5"),
    target=Target(simulator="functional", preset="tiny", timing=MemoryTiming(seed=3)),
)
HEADS = replace(PRODUCT, workload="attention", details=Attention(heads=1, seq=6, dim=8))
EXAMPLE = (Path(__file__).parents[4] / "examples" / "product.cel").read_text()


class Opened:
    """Opens functional models, and remembers with what, and what became of them."""

    def __init__(self, kind=FunctionalDevice):
        self.kind, self.given, self.budgets, self.closed = kind, [], [], 0

    def __call__(self, name, config, timing, memory_bytes, *, progress):
        self.given.append((name, config, timing, memory_bytes))
        opened, made = self, self.kind(config, memory_bytes=memory_bytes, seed=timing.seed)
        limit, close = made.limit_cycles, made.close

        def limited(budget):
            opened.budgets.append(budget)
            limit(budget)

        def closing():
            opened.closed += 1
            close()

        made.limit_cycles, made.close = limited, closing
        progress("half of it", 0.5)
        return made


def program(tmp_path: Path, text: str = EXAMPLE, name: str = "mine.cel") -> RunOptions:
    path = tmp_path / name
    path.write_text(text)
    return changed(PRODUCT, workload=str(path), preset=None, details=None)


def refused(message: str, options: RunOptions, opener=None) -> None:
    with pytest.raises(InputError, match=message):
        run_workload(options, opener=opener or Opened())


def test_a_product_is_run_on_the_device_that_the_options_name():
    opened, told = Opened(), []
    options = changed(PRODUCT, cycle_budget=9_999, overrides=("store_queue=4",))
    outcome = run_workload(options, lambda text, share: told.append((text, share)), opened)
    config = resolve_config("tiny", ["store_queue=4"])
    assert opened.given == [("functional", config, options.target.timing, MIB)]
    assert (opened.budgets, opened.closed) == ([9_999], 1)
    report = outcome.report
    assert report.right
    assert [each.shape for each in report.operators] == ["9x7x5"]
    assert outcome.result is not None
    assert outcome.result.shape == (9, 7)
    assert report.setting == setting_of(options, "tiny", config)
    assert report.elapsed_seconds > 0
    assert told[0] == ("preparing the operands", None)
    assert any("matmul" in text and "compiling" in text for text, _ in told)
    assert any("half of it" in text for text, _ in told)


def test_what_the_report_says_of_the_options():
    options = changed(PRODUCT, issue="ring", cycle_budget=7, command_line=("run", "x"))
    setting = setting_of(options, "mine.toml", PRESETS["small"])
    assert (setting.workload, setting.preset, setting.simulator) == (
        "matmul",
        "mine.toml",
        "functional",
    )
    assert (setting.config, setting.timing) == (PRESETS["small"], options.target.timing)
    assert (setting.issue, setting.cycle_budget) == ("ring", 7)
    assert setting.origin.command_line == ("run", "x")


def test_without_a_preset_it_is_base():
    opened = Opened()
    report = run_workload(changed(PRODUCT, preset=None), opener=opened).report
    assert opened.given[0][1] == PRESETS["base"]
    assert report.setting.preset == "base"


def test_a_program_beyond_its_budget_is_reported():
    report = run_workload(changed(PRODUCT, cycle_budget=3), opener=Opened()).report
    assert not report.right
    (measured,) = report.operators
    assert measured.failure is not None
    assert measured.failure.cause == "CYCLE_BUDGET"


def test_a_graph_is_compared_tensor_by_tensor():
    opened = Opened()
    report = run_workload(HEADS, opener=opened).report
    assert opened.given == [("functional", PRESETS["tiny"], HEADS.target.timing, MIB)]
    assert opened.closed == 1
    assert report.right
    assert report.whole is not None
    assert report.whole.elements_checked
    assert [each.name for each in report.operators] == ["attention"]
    assert report.on_chip == ("numerators", "sums")
    assert report.elapsed_seconds > 0
    assert not report.changes
    assert not run_workload(HEADS, opener=Opened(Idle)).report.right


def test_a_graph_may_be_rewritten_and_its_memory_used_again():
    plain = run_workload(HEADS, opener=Opened()).report
    for change in ({"optimize": True}, {"reuse_memory": True}, {"given": GivenPlan(stages="dp")}):
        assert run_workload(changed(HEADS, **change), opener=Opened()).report.right
    again = run_workload(changed(HEADS, reuse_memory=True), opener=Opened()).report
    assert again.memory_plan != plain.memory_plan


@pytest.mark.parametrize("check", ["all", "outputs", "none"])
def test_memory_is_shared_where_nothing_inside_is_compared(check):
    found = run_workload(changed(HEADS, check=check), opener=Opened())
    alone = run_workload(HEADS, opener=Opened())
    assert (found.report.memory_plan is None) == (check == "all")
    assert found.report.right
    assert found.result is not None
    assert alone.result is not None
    np.testing.assert_array_equal(found.result, alone.result)


def test_a_program_file_brings_its_configuration(tmp_path):
    options, opened = program(tmp_path), Opened()
    report = run_workload(options, opener=opened).report
    assert report.right
    assert report.setting.preset == "tiny"
    assert report.whole is None
    assert [each.elements_checked for each in report.operators] == [64]
    name, config, timing, _ = opened.given[0]
    assert (name, config, timing) == ("functional", PRESETS["tiny"], options.target.timing)
    assert opened.closed == 1


def test_options_change_the_configuration_of_a_program_file(tmp_path):
    options = program(tmp_path, EXAMPLE.replace(".preset tiny", ".preset tiny\n.set store_queue=4"))
    own, other = "store_queue=4", "load_queue=2"
    for change, preset, overrides in (
        ({}, "tiny", (own,)),
        ({"overrides": (other,)}, "tiny", (own, other)),
        ({"preset": "gemmini4"}, "gemmini4", ()),
        ({"preset": "tiny", "overrides": (other,)}, "tiny", (other,)),
    ):
        config = resolve_config(preset, overrides)
        opened = Opened()
        report = run_workload(changed(options, **change), opener=opened).report
        assert opened.given[0][1] == config
        assert report.setting.config == config


def test_results_that_depend_on_garbage_are_found(tmp_path):
    """The model that it is compared with has other garbage, also in a functional device."""
    unloaded = "\n".join(line for line in EXAMPLE.splitlines() if "sp[0] local" not in line)
    assert not run_workload(program(tmp_path, unloaded), opener=Opened()).report.right


def test_what_cannot_be_run_is_refused(tmp_path):
    product, own = PRODUCT, program(tmp_path)
    plan = GivenPlan(plan="x.plan")
    refused("--reuse-memory: matmul is no graph", changed(product, reuse_memory=True))
    refused("--optimize: matmul is no graph", changed(product, optimize=True))
    refused("--optimize: .*mine.cel is no graph", changed(own, optimize=True))
    refused("--plan x.plan: .*mine.cel is compiled already", changed(own, given=plan))
    refused("--stages all: there are", changed(HEADS, given=GivenPlan(stages="all")))
    unnamed = program(tmp_path, EXAMPLE.replace(".check", "# .check"), "none.cel")
    refused("nothing to compare: name the results", unnamed)
    loop = EXAMPLE.replace("config_ex\n", "repeat count=2 length=12\n")
    refused("cut.cel: ", program(tmp_path, loop, "cut.cel"))


def test_a_device_that_cannot_be_opened_is_refused():
    def none(name, config, timing, memory_bytes, *, progress):
        raise ValueError("there is no such memory")

    refused("^there is no such memory$", PRODUCT, none)


def test_a_log_needs_a_clock_and_no_waveform(tmp_path):
    wave = WaveRequest(path=tmp_path / "x.vcd")
    refused("--report, --trace, --profile: functional has no clock", changed(PRODUCT, log=True))
    logged = changed(PRODUCT, log=True, simulator="verilator", wave=wave)
    refused("--wave: not together with", logged)


def test_long_runs_are_announced():
    said: list[str] = []
    large = Matmul(shape="512x512x512")

    def stop(*_, **__):
        raise ValueError("far enough")

    for simulator, count in (("functional", 0), ("amaranth", 1)):
        options = changed(PRODUCT, details=large, simulator=simulator, announce=said.append)
        refused("far enough", options, stop)
        assert len(said) == count
    graph = Attention(heads=1, seq=96, dim=64)
    refused(
        "far enough",
        changed(HEADS, details=graph, simulator="amaranth", announce=said.append),
        stop,
    )
    assert len(said) == 2
    assert all("this takes about" in text for text in said)


def test_memory_is_whole_mebibytes():
    compiled = compile_for(
        graph_of("matmul", MatMul(m=9, n=7, k=5)), PRESETS["tiny"], MemoryTiming()
    )
    for size, wanted in ((1, MIB), (MIB, MIB), (MIB + 1, 2 * MIB)):
        assert needed_memory(replace(compiled, end=MEMORY_BASE + size)) == wanted


def test_tensors_beyond_every_memory_are_refused():
    compiled = compile_for(
        graph_of("matmul", MatMul(m=9, n=7, k=5)), PRESETS["tiny"], MemoryTiming()
    )
    largest = MEMORY_BASE + MAX_MEMORY_BYTES
    assert needed_memory(replace(compiled, end=largest)) == MAX_MEMORY_BYTES
    with pytest.raises(InputError, match=r"graph matmul: its tensors are 1,073,741,825 bytes"):
        needed_memory(replace(compiled, end=largest + 1))


def test_a_result_is_what_stands_in_memory():
    outcome = run_workload(PRODUCT, opener=Opened())
    idle = run_workload(PRODUCT, opener=Opened(Idle))
    assert outcome.result is not None
    assert idle.result is not None
    assert (np.asarray(outcome.result) != idle.result).any()
    assert not idle.report.right
