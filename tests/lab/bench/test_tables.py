"""Every cell of a table of benches, by hand, of runs that are made up."""

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.accuracy.cost import CostLine, CostSet, ErrorBounds
from celosia.lab.bench.advice import AdviceLine, Trial
from celosia.lab.bench.line import BenchCase, BenchLine
from celosia.lab.bench.tables import advice_table, cases_table, cost_table
from celosia.sim.profile.whatif import Change
from celosia.sim.run.report import Measurement, Report, Setting
from celosia.sim.workloads.details import EncoderLayer

ENTRY_BYTES = 24
"""Three words of 64 bits: docs/architecture.md."""


def rows(table):
    """The cells of a table, row by row."""
    return list(zip(*(column.cells for column in table.columns), strict=True))


def report(**values):
    measured = Measurement(name="layer", elements_checked=10, **values)
    setting = Setting(
        workload="encoder-layer",
        preset="base",
        simulator="verilator",
        config=PRESETS["base"],
        timing=MemoryTiming(),
    )
    return Report(setting=setting, operators=(measured,), elapsed_seconds=1.0)


def test_cases_have_their_utilization_and_the_kib_of_their_program():
    layer = BenchCase(
        workload="encoder-layer",
        details=EncoderLayer(model="minilm", seq=128),
        bound=0.985,
        gemmini=0.825,
    )
    known = report(macs=256 * 990, cycles=1000, entries=1024, mismatches=0)
    entries = report(macs=256 * 990, cycles=1000, mismatches=3)
    table = cases_table([BenchLine(layer, each) for each in (known, entries)], "Layers")
    name = "encoder-layer minilm l=128"
    shares = ("98.50%", "82.50%")
    assert rows(table) == [
        (
            name,
            "1,000",
            "array",
            "[green]99.00%[/]",
            *shares,
            "[green]0 of 10[/]",
            f"{ENTRY_BYTES:.1f}",
        ),
        (name, "1,000", "array", "[red]99.00%[/]", *shares, "[red]3 of 10[/]", "-"),
    ]


def test_predictions_have_signed_errors_and_the_mean_and_worst_of_their_sizes():
    lines = (CostLine("one", 1100, 1000, True), CostLine("other", 1900, 2000, True))
    table = cost_table(CostSet("work", ErrorBounds(0.08, 0.09), lines))
    assert rows(table) == [
        ("one", "1,100", "1,000", "+10.00%"),
        ("other", "1,900", "2,000", "-5.00%"),
        ("mean, at most 8%", "", "", "[red]7.50%[/]"),
        ("worst, at most 9%", "", "", "[red]10.00%[/]"),
    ]


def test_advice_has_what_was_saved_beside_what_was_said():
    def trial(said, cycles):
        change = Change("a wider bus", said, 1000, options=("--set", "bus_bits=256"))
        return Trial(change, cycles, True, 1000)

    helped = AdviceLine("run", 1000, (trial(300, 750),), True)
    tried = AdviceLine("other", 1000, (trial(0, 1001), trial(5, 999)), False)
    table = advice_table([helped, tried])
    options = "--set bus_bits=256"
    assert rows(table) == [
        ("run", "1,000", options, "300", "250", "[green]+20.0%[/]"),
        ("other", "1,000", options, "0", "-1", "[green]-[/]"),
        ("", "", options, "5", "1", "[green]-[/]"),
    ]
    assert table.caption == "1 errors: mean 20.0%, worst 20.0%"
