"""The sweep over lanes, with areas and runs that are made up."""

import json

import pytest
from rich.console import Console

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.bench.line import Lines
from celosia.lab.bench.silicon import (
    LANES,
    SCALE_BITS,
    SHORT_WORKLOADS,
    WORKLOADS,
    Accuracy,
    Sweep,
    run_silicon,
)
from celosia.lab.bench.suite import Bench
from celosia.lab.bench.tables import silicon_table
from celosia.sim.export.silicon.area.measure import Area, UnitArea
from celosia.sim.run.origin import as_json
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.report import Measurement, Report, Setting
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import given
from tests.support.command_line import refused
from tests.support.documents import validate

SHORT = tuple(each for each in WORKLOADS if each.workload == "encoder-layer")[:1]


def area_of(config: AcceleratorConfig, _tell) -> Area:
    """A thousand gates, a hundred for each lane, and one for each bit of a scale."""
    gates = 976.0 + 100.0 * config.lanes * config.normalization + config.scale_bits
    return Area(config, {"all": UnitArea(gates=gates)}, ())


def accuracy_of(config: AcceleratorConfig, _tell) -> Accuracy:
    return Accuracy(1 - 2.0**-config.scale_bits, 0.5)


def made_up(mismatches=0, lanes=LANES, scale_bits=()):
    """Runs that take longer with fewer lanes: 1024 cycles of multiplications on 16."""

    def run(options, _tell):
        config = resolve_config(options.target.preset, options.target.overrides)
        setting = Setting(
            workload=options.workload,
            preset=options.target.preset,
            simulator=options.target.simulator,
            config=config,
            timing=options.target.timing,
        )
        whole = Measurement(
            name="layer",
            cycles=1024 + 64 // config.lanes - 4,
            macs=1024 * config.macs_per_cycle,
            mismatches=mismatches,
            elements_checked=10,
        )
        return Outcome(
            Report(setting=setting, operators=(whole,), whole=whole, elapsed_seconds=1.0)
        )

    sweep = Sweep(
        lanes=lanes, scale_bits=scale_bits, workloads=SHORT, short_workloads=SHORT_WORKLOADS
    )
    return run_silicon(silent, sweep, run, area_of, accuracy_of).lines


def test_every_number_of_lanes_is_measured_on_the_usual_memory():
    assert [line.lanes for line in made_up()] == [*LANES]
    assert {each.timing for each in WORKLOADS} == {MemoryTiming()}
    assert {each.preset for each in WORKLOADS} == {"base"}
    assert given(WORKLOADS[-1].details)["seq"] == 2048


def test_only_the_lanes_that_are_asked_for_are_measured():
    assert [line.lanes for line in made_up(lanes=(8, 2))] == [8, 2]


def test_lanes_that_do_not_divide_dim_are_refused_before_anything_is_measured():
    def measured(*_):
        raise AssertionError

    for sweep, message in (
        (Sweep(lanes=(8, 3)), "vector_lanes: 3 does not divide dim, which is 16"),
        (Sweep(scale_bits=(16, 7)), "scale_bits: 7 is not in 8..24"),
    ):
        with pytest.raises(ConfigError, match=message):
            run_silicon(silent, sweep, measured, measured, measured)


def test_the_sweep_is_what_is_asked_for():
    assert Sweep.of((), ()) == Sweep(lanes=LANES, scale_bits=SCALE_BITS)
    assert Sweep.of((8, 4, 8), ()) == Sweep(lanes=(8, 4), scale_bits=())
    assert Sweep.of((), (16,)) == Sweep(lanes=(), scale_bits=(16,))


def test_lanes_and_scale_bits_are_of_this_benchmark_alone():
    refused("--lanes 4: only bench silicon has it", "bench", "products", "--lanes", "4")
    refused("--scale-bits 8: only bench silicon has it", "bench", "speed", "--scale-bits", "8")


def test_short_scales_are_measured_with_their_accuracy():
    lines = made_up(lanes=(8,), scale_bits=(8, 16))
    assert [(line.lanes, line.scale_bits) for line in lines] == [(8, 24), (8, 8), (8, 16)]
    assert [line.area.logic.gates for line in lines] == [1800, 1784, 1792]
    accuracies = [line.accuracy and line.accuracy.mean for line in lines]
    assert accuracies == [None, 1 - 2.0**-8, 1 - 2.0**-16]
    assert {each.workload for each in SHORT_WORKLOADS} == {"encoder-layer"}
    console = Console(width=160, record=True)
    console.print(silicon_table(lines))
    assert "0.9961, least 0.5000" in console.export_text()
    document = json.loads(as_json(Bench(parts={"silicon": Lines(lines)}).document()))
    validate(document)
    assert [line["scale_bits"] for line in document["silicon"]] == [24, 8, 16]


def test_lanes_below_a_bound_are_shown_as_failing_and_are_no_error():
    lines = made_up()
    assert [line.runs[0].kept for line in lines] == [False, True, True, True]
    assert [line.added_gates for line in lines] == [200, 400, 800, 1600]
    assert Bench(parts={"silicon": Lines(lines)}).right
    console = Console(width=120, record=True, force_terminal=True)
    console.print(silicon_table(lines))
    text = console.export_text(styles=True)
    assert "97.34%" in text
    assert "98.84%" in text


@pytest.mark.parametrize("mismatches", [0, 1])
def test_wrong_results_are_an_error(mismatches):
    bench = Bench(parts={"silicon": Lines(made_up(mismatches))})
    assert bench.right == (mismatches == 0)
    document = json.loads(as_json(bench.document()))
    validate(document)
    assert [line["lanes"] for line in document["silicon"]] == [*LANES]
