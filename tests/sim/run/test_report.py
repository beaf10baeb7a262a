"""Reports, their arithmetic, and their documents against the published schema."""

import io
import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from rich.console import Console

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.events import ARRAY_OWNERS, COUNTERS, TABLES
from celosia.sim.command.outputs.tables import print_report
from celosia.sim.run.origin import Origin, as_json
from celosia.sim.run.outcome import Outcome
from celosia.sim.run.report import Failure, Measurement, Report, Setting
from celosia.sw.driver.device import DeviceError
from celosia.sw.timeline.limits import Limit

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "report.schema.json").read_text())

REQUIRED = {
    "schema",
    "workload",
    "preset",
    "simulator",
    "cycles",
    "macs",
    "mac_utilization",
    "mismatches",
    "elements_checked",
    "dram_read_bytes",
    "dram_write_bytes",
    "commands",
    "sim_cycles_per_second",
    "elapsed_seconds",
    "config",
    "seed",
    "versions",
    "commit",
    "command_line",
}
"""What the issue asks for, of the whole and of each operator."""

SETTING = Setting(
    workload="two",
    preset="tiny",
    simulator="verilator",
    config=PRESETS["tiny"],
    timing=MemoryTiming(seed=5),
    origin=Origin(command_line=("celosia", "run", "two")),
)
COUNTED = {counter.name: 1 for counter in COUNTERS} | {"cycles": len(ARRAY_OWNERS)}
FIRST = Measurement(
    name="first",
    shape="2x3x4",
    macs=24,
    cycles=100,
    mismatches=0,
    elements_checked=6,
    dram_read_bytes=20,
    dram_write_bytes=6,
    commands=9,
    cpu_seconds=0.5,
    elapsed_seconds=1.0,
    counters=COUNTED,
    predicted_cycles=98,
    limit=Limit(compute=4, reads=5, writes=2, ramp=85),
)
SECOND = replace(FIRST, name="second", macs=48, cycles=60)


def report(*operators):
    return Report(setting=SETTING, operators=operators, elapsed_seconds=2.5)


def valid(document):
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_the_schema_is_one():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_document_has_all_keys_for_the_whole_and_for_each_operator():
    document = valid(report(FIRST, SECOND).document())
    for part in (document, *document["operators"]):
        assert set(part) >= REQUIRED
    assert [part["workload"] for part in document["operators"]] == ["first", "second"]


def test_the_whole_is_the_sum():
    document = report(FIRST, SECOND).document()
    assert document["cycles"] == 160
    assert document["macs"] == 72
    assert document["mac_utilization"] == pytest.approx(72 / (16 * 160))
    assert document["sim_cycles_per_second"] == pytest.approx(160 / 1.0)
    assert document["elapsed_seconds"] == 2.5
    assert document["counters"]["cycles"] == 2 * len(ARRAY_OWNERS)
    assert document["limit"]["cycles"] == 2 * 90
    assert document["predicted_cycles"] == 196
    assert document["shape"] is None
    assert document["status"] == "right"


def test_one_operator_is_the_whole():
    document = valid(report(FIRST).document())
    (operator,) = document["operators"]
    same = set(operator) - {"workload", "elapsed_seconds"}
    assert {key: document[key] for key in same} == {key: operator[key] for key in same}


def test_without_a_clock_what_needs_one_is_null():
    document = valid(report(replace(FIRST, cycles=None, counters={})).document())
    assert document["cycles"] is None
    assert document["mac_utilization"] is None
    assert document["sim_cycles_per_second"] is None
    assert document["counters"] == {}


def test_without_products_there_is_no_utilization():
    document = valid(report(replace(FIRST, macs=0, limit=None)).document())
    assert document["mac_utilization"] is None
    assert document["limit"] is None


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"mismatches": 1}, "wrong"),
        ({"elements_checked": 0}, "wrong"),
        ({"failure": Failure(message="m", cause="SHAPE", command=3), "cycles": None}, "stopped"),
    ],
)
def test_what_is_not_right_is_exit_code_1_and_still_a_document(change, status):
    made = report(FIRST, replace(SECOND, **change))
    assert made.exit_code == 1
    assert valid(made.document())["status"] == status


def test_nothing_is_not_right():
    assert report().exit_code == 1


@pytest.mark.parametrize(
    ("checked", "mismatches", "failure", "right"),
    [
        (1, 0, None, True),
        (0, 0, None, False),
        (5, 1, None, False),
        (5, 0, Failure(message="it stops", cause="WATCHDOG", command=1), False),
    ],
)
def test_right_is_what_was_checked_without_a_difference(checked, mismatches, failure, right):
    part = Measurement(name="x", elements_checked=checked, mismatches=mismatches, failure=failure)
    assert part.right is right
    assert Report(setting=SETTING, operators=(part,), elapsed_seconds=1).right is right


def test_what_was_counted_until_a_stop_adds_up_too():
    stopped = replace(FIRST, cycles=None, counters={}, until_stopped={"cycles": 4, "read_bytes": 7})
    total = Report(setting=SETTING, operators=(FIRST, stopped), elapsed_seconds=1).total
    assert (total.cycles, total.counters) == (None, {})
    assert total.until_stopped == COUNTED | {
        "cycles": COUNTED["cycles"] + 4,
        "read_bytes": COUNTED["read_bytes"] + 7,
    }


def test_a_failure_names_cause_and_command():
    failure = Failure.of(DeviceError("text", Cause.SHAPE, 7))
    assert failure == Failure(message="text", cause="SHAPE", command=7)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("latency", 7),
        ("bytes_per_cycle", 3),
        ("stall_percent", 20),
        ("reorder", True),
        ("ready_after_valid", True),
    ],
)
def test_each_option_of_memory_is_told_by_itself(option, value):
    usual = report(FIRST).document()["memory"]
    timing = replace(SETTING.timing, **{option: value})
    memory = replace(report(FIRST), setting=replace(SETTING, timing=timing)).document()["memory"]
    assert memory == {**usual, option: value} != usual


def test_a_document_is_json_that_everybody_reads():
    text = as_json(report(FIRST).document())
    assert text.endswith("}\n")
    assert json.loads(text)["schema"] == "celosia.run/1"
    with pytest.raises(ValueError, match="JSON compliant"):
        as_json({"a": float("nan")})


def printed(made, **more):
    paper = io.StringIO()
    print_report(Console(width=120, file=paper), made, **more)
    return paper.getvalue()


def test_tables_show_results_limits_and_owners():
    text = printed(report(FIRST, SECOND), owners=True)
    assert "2x3x4" in text
    assert "0 of 6" in text
    assert "0 of 12" in text
    for unit in TABLES:
        assert unit.unit in text
        for owner in unit.owners:
            assert owner.name in text


def test_tables_say_what_is_wrong():
    assert "1 of 6 elements are wrong" in printed(report(replace(FIRST, mismatches=1)))
    assert "nothing was checked" in printed(report(replace(FIRST, elements_checked=0)))
    stopped = Failure(message="[watchdog] who waits", cause="NONE")
    assert "stopped: [watchdog] who waits" in printed(report(replace(FIRST, failure=stopped)))


def test_without_counters_there_are_no_owners():
    assert ARRAY_OWNERS[0].name not in printed(report(replace(FIRST, counters={}, cycles=None)))


def test_a_notebook_shows_a_line_for_each_operator_and_one_for_all():
    odd = replace(FIRST, name="<i>&")
    report = Report(setting=SETTING, operators=(odd, FIRST), elapsed_seconds=1.0)
    table = ElementTree.fromstring(report._repr_html_())
    assert table.findtext("caption") == f"two on tiny (verilator): {report.status}"
    rows = [[cell.text for cell in row] for row in table.iter("tr")]
    assert rows[0][:2] == ["operator", "cycles"]
    assert [row[0] for row in rows[1:]] == ["<i>&", "first", "two"]
    assert rows[1][1] == f"{FIRST.cycles:,}"
    assert rows[3][1] == f"{2 * (FIRST.cycles or 0):,}"
    assert len(ElementTree.fromstring(replace(report, operators=(odd,))._repr_html_())[2]) == 1
    assert Outcome(report)._repr_html_() == report._repr_html_()
