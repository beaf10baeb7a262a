"""The measurement of speed: its arithmetic, the loop, and the recording that valgrind sees."""

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import celosia.isa
from celosia.isa.encoding import RING_ENTRY
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.bench import replay, speed
from celosia.lab.bench.benches import BENCHES
from celosia.lab.bench.speed import (
    CASES,
    PROFILED_BOUNDS,
    Pair,
    Speed,
    SpeedLine,
    array_loop,
    loop_speed,
    measure_speed,
)
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import speed_table
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.run.origin import as_json
from celosia.sim.support.cache import CACHE_VARIABLE
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.verilator.build import MODEL_TOP, build_model
from celosia.sim.verilator.toolchain import find_compiler
from celosia.sim.verilator.verilog import to_verilog
from tests.support.documents import validate
from tests.support.stub_top import StubTop, copy


def line(*shares, right=True):
    pairs = tuple(Pair(1e6, 1e6 * share) for share in shares)
    return SpeedLine(case=CASES[0], build="plain", pairs=pairs, results_right=right)


def made_up(*shares, right=True, count=None):
    lines = (line(0.9), line(*shares, right=right))
    return Speed(lines=lines, instructions_per_cycle=count, compiler="g++ 12")


def test_the_share_is_the_median_of_the_pairs():
    assert line(0.1, 0.3, 0.2, 0.9, 0.25).share == 0.25
    assert line(0.1, 0.3, 0.2, 0.9, 0.25).right


def test_too_slow_is_not_right():
    bound = CASES[0].bound
    assert made_up(bound).right
    assert not made_up(bound - 0.001).right
    assert not Bench(parts={"speed": made_up(0.1)}).right


def test_fast_but_wrong_is_not_right():
    assert not made_up(0.9, right=False).right


@pytest.mark.parametrize("count", [None, 14_000.5])
def test_a_document_follows_the_schema(count):
    document = Bench(parts={"speed": made_up(0.3, 0.4, count=count)}).document()
    validate(json.loads(as_json(document)))
    assert document["speed"]["workloads"][1]["cycles_per_second"] == pytest.approx(350_000)
    assert document["products"] is None


def measured(monkeypatch, again):
    """The measurement of simulators that are pretended, and what was run; `again`: the second."""
    order = []
    report = SimpleNamespace(right=True, total=SimpleNamespace(sim_cycles_per_second=5.0))

    def run(options, tell, opener) -> Any:
        order.append(options.workload)
        return SimpleNamespace(report=report)

    def loop(path):
        order.append("loop")
        return 20.0

    counts = {Path("model.so"): 7.0, Path("again.so"): 6.0}
    monkeypatch.setattr(speed, "loop_speed", loop)
    monkeypatch.setattr(speed, "model_library", lambda config, progress: Path("model.so"))
    monkeypatch.setattr(speed, "build_faster", lambda config, tell: None)
    monkeypatch.setattr(speed, "profiled", lambda plain: again)
    monkeypatch.setattr(speed, "instructions_per_cycle", counts.__getitem__)
    return measure_speed(silent, run, pairs=2), order


def test_loop_and_both_models_run_in_turns(monkeypatch):
    found, order = measured(monkeypatch, Path("again.so"))
    once = ["loop", "matmul", "matmul"], ["loop", "encoder-layer", "encoder-layer"]
    assert order == once[0] * 2 + once[1] * 2
    assert [each.build for each in found.lines] == ["plain", "profiled"] * 2
    assert [each.share for each in found.lines] == [0.25] * 4
    assert [each.bound for each in found.lines] == [
        CASES[0].bound,
        PROFILED_BOUNDS[0],
        CASES[1].bound,
        PROFILED_BOUNDS[1],
    ]
    assert found.instructions_per_cycle == 7.0
    assert found.profiled_instructions_per_cycle == 6.0


def test_without_a_profile_one_model_is_measured(monkeypatch):
    found, order = measured(monkeypatch, None)
    assert order == ["loop", "matmul"] * 2 + ["loop", "encoder-layer"] * 2
    assert [each.build for each in found.lines] == ["plain"] * 2
    assert found.profiled_instructions_per_cycle is None


def test_a_share_below_its_bound_is_red():
    (share,) = (c for c in speed_table(made_up(0.3)).columns if c.header == "share")
    assert str(list(share.cells)[-1]).startswith("[green]")
    (share,) = (c for c in speed_table(made_up(0.1)).columns if c.header == "share")
    assert str(list(share.cells)[-1]).startswith("[red]")


def test_the_loop_is_built_and_runs(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))  # Else one that is there already is run.
    assert loop_speed(array_loop(find_compiler()), 100_000) > 1e4


def test_a_loop_that_is_wrong_is_not_a_reference():
    with pytest.raises(EnvironmentProblem, match="false: exit code 1"):
        loop_speed(Path("/bin/false"))


def test_the_loop_needs_a_checkout(monkeypatch, tmp_path):
    monkeypatch.setattr(celosia.isa, "__path__", [str(tmp_path / "isa")])
    with pytest.raises(InputError, match="not a checkout of Celosia"):
        array_loop(find_compiler())
    with pytest.raises(InputError, match="not a checkout of Celosia"):
        BENCHES["speed"].ready()


def test_a_replay_does_what_the_device_does(tmp_path):
    assert RING_ENTRY.size == replay.ENTRY_BYTES
    config, timing, size = PRESETS["tiny"], MemoryTiming(latency=10), 1 << 16
    library = build_model(to_verilog(StubTop(config), MODEL_TOP), config)
    program = [copy(MEMORY_BASE + 64 * i, MEMORY_BASE + 4096 + 64 * i) for i in range(3)]
    with VerilatorDevice(config, timing, size, library=library) as device:
        device.write(MEMORY_BASE, bytes(range(256)))
        speed.save_recording(tmp_path, device, program, timing)
        device.run(program)
        expected = device.read(MEMORY_BASE, size)
    arguments = (str(library), str(tmp_path), timing.seed)
    assert replay.replay(*arguments, 10_000) == expected
    assert replay.replay(*arguments, 0) == bytes(range(256)).ljust(size, b"\0")


def test_without_valgrind_nothing_is_counted(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CELOSIA_REQUIRE", raising=False)
    assert speed.instructions_per_cycle(Path("model.so")) is None
    monkeypatch.setenv("CELOSIA_REQUIRE", "valgrind")
    with pytest.raises(EnvironmentProblem, match="valgrind was not found"):
        speed.instructions_per_cycle(Path("model.so"))
