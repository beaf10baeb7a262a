"""Graphs' reports on a terminal."""

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.events import ARRAY_OWNERS
from celosia.sim.command.outputs.graph_tables import (
    groups_table,
    memory_line,
    on_chip_line,
    owners,
    similarity_table,
)
from celosia.sim.command.outputs.tables import print_report
from celosia.sim.run.report import Failure, Measurement, Report, Setting
from celosia.sim.workloads.similarity import Similarity
from celosia.sw.scheduling.memory.memory_plan import MemoryPlan

NONE = {owner.name: 0 for owner in ARRAY_OWNERS}
COUNTERS = NONE | {"cycles": 200, "array_rows": 150, "wait_load_latency": 40, "drain": 10}
FIRST = Measurement(
    name="0.query",
    macs=2400,
    cycles=200,
    mismatches=0,
    elements_checked=30,
    dram_read_bytes=1000,
    counters=COUNTERS,
)
REPORT = Report(
    setting=Setting(
        workload="encoder",
        preset="tiny",
        simulator="verilator",
        config=PRESETS["tiny"],
        timing=MemoryTiming(),
    ),
    operators=(
        Measurement(name="norm", mismatches=0, elements_checked=12),
        FIRST,
        replace(FIRST, name="1.query", cycles=600, counters=COUNTERS | {"cycles": 800}),
    ),
    whole=replace(FIRST, name="encoder", macs=4800, cycles=800, elements_checked=72),
    on_chip=("0.sums.text0", "0.sums.text1", "1.sums.text0", "context"),
    elapsed_seconds=1.0,
)
SIMILARITY = Similarity(
    texts=("One.", "[Two]."),
    lengths=(4, 5),
    cosines=np.array([[1, 0.5], [0.5, 1]], np.float32),
    float_cosines=np.array([[1, 0.25], [0.25, 1]], np.float32),
    to_float=np.array([0.998, 0.999], np.float32),
)


def shown(thing):
    file = io.StringIO()
    console = Console(file=file, width=130)
    if isinstance(thing, Report):
        print_report(console, thing)
    else:
        console.print(thing)
    return file.getvalue()


def cells(text, word):
    """Of the line with `word`."""
    line = next(line for line in text.splitlines() if word in line)
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_a_group_is_a_line_with_its_share_of_the_whole():
    found = cells(shown(groups_table(REPORT, every=True)), "0.query")
    assert found[1:5] == ["200", "-", "25.00%", "75.00%"]
    assert found[5] == "rows 75.0%, load 20.0%"
    assert found[6:] == ["1,000", "0 of 30"]


def test_layers_that_are_alike_are_one_line():
    found = cells(shown(groups_table(REPORT)), "0-1.query x2")
    assert found[1:5] == ["800", "-", "100.00%", "37.50%"]
    assert found[6:] == ["2,000", "0 of 60"]


def test_what_has_no_time_of_its_own_has_none():
    found = cells(shown(groups_table(REPORT)), "norm")
    assert found[1:] == ["-", "-", "-", "-", "-", "-", "0 of 12"]


def test_the_largest_owners_come_first_and_small_ones_are_left_out():
    counters = NONE | {"cycles": 1000, "wait_bank_results": 500, "array_rows": 495, "drain": 4}
    assert owners(counters) == "bank 50.0%, rows 49.5%"
    counters = NONE | {"cycles": 10, "drain": 3, "wait_bank_store": 2, "array_rows": 1}
    counters |= {"wait_load_latency": 3, "wait_load_stages": 1}
    assert owners(counters) == "load 40.0%, drain 30.0%"
    assert owners({}) == "-"
    assert owners({"cycles": 10, "array_rows": 10}) == "rows 100.0%"  # What is not there is 0.


def test_tensors_on_the_chip_are_named_by_kind():
    assert on_chip_line(REPORT.on_chip).endswith(": sums (x3), context")


def test_a_report_shows_everything():
    text = shown(replace(REPORT, similarity=SIMILARITY))
    assert "encoder on tiny, verilator" in text
    assert "sums (x3)" in text
    assert "array_rows" in text
    assert "[Two]." in text


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"mismatches": 2}, "encoder: 2 of 72 elements are wrong"),
        ({"failure": Failure(message="no end", cause="NONE")}, "encoder: stopped: no end"),
    ],
)
def test_what_is_wrong_is_said_once(change, message):
    assert REPORT.whole is not None
    report = replace(REPORT, whole=replace(REPORT.whole, **change))
    assert report.exit_code == 1
    assert shown(report).count(message) == 1


def test_similarities_stand_beside_those_of_float32():
    found = cells(shown(similarity_table(SIMILARITY)), "One.")
    assert found == ["1", "One.", "4", "1.000", "0.500", "1.000", "0.250", "0.99800"]


def test_without_float32_there_is_nothing_beside():
    alone = replace(SIMILARITY, float_cosines=None, to_float=None)
    text = shown(similarity_table(alone))
    assert "f32" not in text
    assert cells(text, "One.")[3:] == ["1.000", "0.500"]


def test_what_a_program_takes_is_printed():
    whole = replace(REPORT.operators[1], name="encoder", commands=5000, entries=1024)
    text = shown(groups_table(replace(REPORT, whole=whole)))
    assert "program: 5,000 commands in 1,024 entries, 24.0 KiB" in text
    assert "program:" not in shown(groups_table(REPORT))


def test_one_thing_is_not_several():
    whole = replace(REPORT.operators[1], name="encoder", commands=1, entries=1)
    text = shown(groups_table(replace(REPORT, whole=whole)))
    assert "program: 1 command in 1 entry, 0.0 KiB" in text


@pytest.mark.parametrize("width", [80, 120])
def test_a_model_of_many_layers_has_its_numbers_in_any_terminal(width):
    names = [f"/bert/encoder/layer.{n}/attention/self/query/Add (Add)" for n in range(12)]
    parts = [replace(FIRST, name=name, cycles=12_345_678) for name in names]
    report = replace(REPORT, operators=tuple(parts))
    file = io.StringIO()
    Console(file=file, width=width).print(groups_table(report))
    lines = file.getvalue().splitlines()
    assert all(len(line) <= width for line in lines)
    (line,) = (line for line in lines if "query/Add" in line)
    assert "layer.0-11" in line
    assert "x12" in line
    assert f"{12 * 12_345_678:,}" in line
    assert "…" not in "".join(lines)


@pytest.mark.parametrize(
    ("gone", "words"), [("a", "1 is overwritten"), ("ab", "2 are overwritten")]
)
def test_how_many_tensors_are_overwritten(gone, words):
    plan = MemoryPlan(
        addresses={}, end=0, fixed=0, dense=96, peak=64, live_sum=48, gone=frozenset(gone)
    )
    assert memory_line(plan, "none").endswith(f"48 live at once; {words}")
    assert memory_line(plan).endswith(f"{words}, so not compared")


def test_an_owner_of_half_a_percent_is_named_and_one_of_less_is_not():
    for cycles, named in ((5, ", drain 0.5%"), (4, "")):
        counters = NONE | {"cycles": 1000, "array_rows": 1000 - cycles, "drain": cycles}
        assert owners(counters) == f"rows {100 - cycles / 10:.1f}%{named}"


def test_bytes_are_those_of_both_ways():
    moved = replace(FIRST, dram_read_bytes=1000, dram_write_bytes=234)
    found = cells(shown(groups_table(replace(REPORT, operators=(moved,)))), "0.query")
    assert found[6] == "1,234"
