"""Printed tables against numbers that are worked out by hand."""

import io
from dataclasses import replace

import pytest
from rich.console import Console
from typer.testing import CliRunner

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim import cli
from celosia.sim.command import report_commands
from celosia.sim.command.config_report import config_table, preset_table
from celosia.sim.command.outputs.table_cells import judged, percent, run_caption, run_title, whole
from celosia.sim.command.outputs.tables import doctor_table, print_report, results_table
from celosia.sim.profile.hottest import Hot, rows_of
from celosia.sim.reporting.compare import Comparison, Difference
from celosia.sim.run.report import Failure, Measurement, Report, Setting
from celosia.sim.verilator.doctor import Finding, Tool
from celosia.sw.timeline.limits import Limit

SETTING = Setting(
    workload="two",
    preset="tiny",
    simulator="verilator",
    config=AcceleratorConfig(dim=4, bus_bits=64),
    timing=MemoryTiming(latency=9, bytes_per_cycle=8, stall_percent=0),
)
FIRST = Measurement(
    name="first",
    shape="2x3x4",
    macs=24,
    cycles=1000,
    mismatches=0,
    elements_checked=6,
    dram_read_bytes=2000,
    dram_write_bytes=6,
    commands=9,
    cpu_seconds=0.5,
    elapsed_seconds=1.0,
    counters={},
    predicted_cycles=98,
    limit=Limit(compute=4, reads=5, writes=2, ramp=85),
)
SECOND = replace(
    FIRST,
    name="second",
    shape="",
    macs=1600,
    cycles=200,
    mismatches=1,
    limit=Limit(compute=100, reads=5, writes=2, ramp=0),
)


def report(*operators):
    return Report(setting=SETTING, operators=operators, elapsed_seconds=1.0)


def printed(renderable, width=120):
    paper = io.StringIO()
    Console(width=width, file=paper).print(renderable)
    return paper.getvalue()


def cells(text):
    """The cells of each line of a table."""
    lines = [line.replace("┃", "│") for line in text.splitlines() if set("│┃") & {*line}]
    return [[cell.strip() for cell in line.strip().strip("│").split("│")] for line in lines]


def test_a_line_has_what_was_measured_of_an_operator_and_the_last_one_of_all():
    """Of 16 products in each cycle: 24 in 1,000 cycles, 1,600 in 200, 1,624 in 1,200."""
    text = printed(results_table(report(FIRST, SECOND)))
    head, first, second, both = cells(text)
    assert head == ["product", "M x N x K", "cycles", "MAC util.", "limit", "bytes", "mismatches"]
    assert first[:4] == ["first", "2x3x4", "1,000", "0.15%"]
    assert first[5:] == ["2,006", "0 of 6"]
    assert second[:4] == ["second", "-", "200", "50.00%"]
    assert second[5:] == ["2,006", "1 of 6"]
    assert both[:4] == ["two", "-", "1,200", "8.46%"]
    assert both[5:] == ["4,012", "1 of 12"]
    assert text.splitlines()[0].strip() == "two on tiny, verilator"
    assert text.splitlines()[-1].strip() == "memory: latency 9, 8 bytes per cycle"


def test_one_operator_needs_no_line_of_all_and_without_a_clock_there_is_nothing():
    text = printed(results_table(report(replace(FIRST, cycles=None))))
    _, only = cells(text)
    assert only[:4] == ["first", "2x3x4", "-", "-"]
    assert only[4] == "-" or "%" in only[4]


@pytest.mark.parametrize(
    ("change", "caption"),
    [
        ({"issue": "ring"}, "memory: latency 9, 8 bytes per cycle; commands from a ring"),
        (
            {"check": "outputs"},
            "memory: latency 9, 8 bytes per cycle; only outputs were compared",
        ),
        ({"check": "none"}, "memory: latency 9, 8 bytes per cycle; nothing was compared"),
        (
            {"timing": MemoryTiming(latency=1, bytes_per_cycle=16, stall_percent=7)},
            "memory: latency 1, 8 bytes per cycle (bus; memory: 16), 7 % stalls",
        ),
        (
            {"timing": MemoryTiming(latency=1, bytes_per_cycle=4)},
            "memory: latency 1, 4 bytes per cycle (memory; bus: 8)",
        ),
    ],
)
def test_a_caption_says_what_was_not_usual(change, caption):
    assert run_caption(replace(SETTING, **change)) == caption


def test_cells():
    assert (percent(0.12345), percent(None), percent(0.0)) == ("12.35%", "-", "0.00%")
    assert (whole(1234567), whole(None), whole(0)) == ("1,234,567", "-", "0")
    assert (judged(True, "x"), judged(False, "x")) == ("[green]x[/]", "[red]x[/]")
    assert run_title(replace(SETTING, workload="[a]")) == r"\[a] on tiny, verilator"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"failure": Failure(message="waits [x]", cause="NONE")}, "first: stopped: waits [x]"),
        ({"mismatches": 2}, "first: 2 of 6 elements are wrong"),
        ({"elements_checked": 0}, "first: nothing was checked"),
        ({}, None),
    ],
)
def test_what_is_wrong_stands_below(change, said):
    paper = io.StringIO()
    made = report(replace(FIRST, **change))
    print_report(Console(width=120, file=paper), made)
    last = paper.getvalue().splitlines()[-1].strip()
    assert last == (said or "memory: latency 9, 8 bytes per cycle")
    if "elements_checked" in change:
        paper = io.StringIO()
        unchecked = replace(made, setting=replace(SETTING, check="none"))
        print_report(Console(width=120, file=paper), unchecked)
        assert "nothing was checked" not in paper.getvalue()


def test_a_configuration_has_all_parameters_and_what_follows():
    tiny = PRESETS["tiny"]
    lines = cells(printed(config_table("[mine]", tiny)))
    rows = {line[0]: line[1] for line in lines}
    assert rows["dim"] == str(tiny.dim)
    assert rows["macs_per_cycle"] == str(tiny.dim**2)
    assert rows["bus_bytes"] == str(tiny.bus_bits // 8)
    assert rows["scratchpad_row_bytes"] == str(tiny.dim)
    assert rows["accumulator_row_bytes"] == str(4 * tiny.dim)
    assert rows["scratchpad_rows"] == f"{tiny.scratchpad_kib * 1024 // tiny.dim:,}"
    assert rows["accumulator_rows"] == f"{tiny.accumulator_kib * 1024 // (4 * tiny.dim):,}"
    assert printed(config_table("[mine]", tiny)).startswith("[mine]")


def test_presets_are_told_by_their_sizes():
    mine = AcceleratorConfig(dim=8, scratchpad_kib=32, accumulator_kib=16, bus_bits=128)
    head, line = cells(printed(preset_table({"mine": mine})))
    assert head == ["preset", "array", "scratchpad", "accumulator", "bus"]
    assert line == ["mine", "8x8", "32 KiB", "16 KiB", "128 bit"]


def test_two_runs_stand_beside_each_other(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    found = Comparison(
        first=2000,
        second=1500,
        differences=(
            Difference("a", "loads", 1000, 300),
            Difference("b", "stores", 0, 1200),
        ),
        only_first=(),
        only_second=(),
        settings=(("preset", "base", None),),
    )
    report_commands._print_comparison([("A.json", "one"), ("B.json", "[two]")], found)
    text = capsys.readouterr().out
    head, first, second, both = cells(text)
    assert head == ["operator", "cause", "A", "B", "change"]
    assert first == ["a", "loads", "1,000", "300", "-700"]
    assert second == ["b", "stores", "0", "1,200", "+1,200"]
    assert both == ["all", "", "2,000", "1,500", "-25.00 %"]
    lines = [line.strip() for line in text.splitlines()]
    assert lines[:3] == ["A: A.json, one", "B: B.json, [two]", "Cycles of the array"]
    assert lines[-1] == "preset: base -> None"


def test_the_cells_of_a_hot_instruction_are_in_the_order_of_their_heads():
    hot = Hot(command=1, operator="o", unit="u", cycles=20, lost=3, waited=4, text="t")
    assert rows_of([hot]) == [(1, "o", "u", 20, 3, 4, "t")]
    assert hot.total == 23


def test_tools_are_found_or_named_with_their_package():
    def tool(name):
        return Tool(name, "what for", f"apt install {name}", lambda: None)

    findings = [
        Finding(tool("one"), "1.2 [x]", True),
        Finding(tool("two"), None, True),
        Finding(tool("three"), None, False),
    ]
    head, one, two, three = cells(printed(doctor_table(findings)))
    assert head == ["tool", "found", "for"]
    assert one == ["one", "1.2 [x]", "what for"]
    assert two == ["two", "no, but required: apt install two", "what for"]
    assert three == ["three", "no: apt install three", "what for"]


def test_every_stall_is_told():
    setting = replace(SETTING, timing=replace(SETTING.timing, stall_percent=1))
    assert run_caption(setting).endswith("8 bytes per cycle, 1 % stalls")


@pytest.mark.parametrize(("threshold", "code"), [("10", 0), ("9.99", 1), (None, 0)])
def test_a_run_that_is_slower_by_just_the_threshold_does_not_fail(threshold, code, monkeypatch):
    runs = {"a": 100, "b": 110}
    none = {"operators": [], "config": {}, "memory": {}, "versions": {}, "workload": "x"}
    monkeypatch.setattr(
        report_commands, "read_clocked_run", lambda path: none | {"cycles": runs[path]}
    )
    words = ["compare", "a", "b", *(["--threshold", threshold] if threshold else [])]
    result = CliRunner().invoke(cli.app, words)
    assert result.exit_code == code
    told = "b: 10.00 % slower, more than 9.99 %" if code else ""
    assert result.stderr.strip() == told
