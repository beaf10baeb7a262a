"""Energies are told with the table's name, and what is not known stays unknown."""

import io

import pytest
from rich.console import Console

from celosia.sim.export.silicon.energy.events import EVENTS
from celosia.sim.export.silicon.energy.report import EnergyReport, print_energy
from celosia.sim.export.silicon.energy.table import EnergyTable, Entry

TABLE = EnergyTable("a table", {name: Entry(2.0, "somewhere") for name in EVENTS})
OPEN = EnergyTable("a table", {**TABLE.entries, "lane_step": Entry(None, "nobody")})
COUNTS = dict.fromkeys(EVENTS, 100)
UNIT = sum(event.normalization for event in EVENTS.values())
REST = len(EVENTS) - UNIT


def test_everything_known():
    report = EnergyReport("run", COUNTS, TABLE)
    assert not report.unknown
    assert report.normalization_adds(bus=True) == UNIT / REST
    assert report.normalization_adds(bus=False) == UNIT / (REST - 2)
    document = report.document()
    assert document["known_pj"] == 200 * len(EVENTS)
    assert document["normalization"]["at_least"] is False


def test_an_unknown_entry_of_the_unit():
    document = EnergyReport("run", COUNTS, OPEN).document()
    assert document["unknown"] == ["lane_step"]
    assert document["events"]["lane_step"] == {
        "count": 100,
        "pj_each": "unknown",
        "pj": "unknown",
        "source": "nobody",
        "normalization": True,
    }
    assert document["normalization"]["at_least"] is True
    assert document["normalization"]["adds"] == pytest.approx((UNIT - 1) / REST)


def test_what_did_not_happen_takes_nothing():
    assert not EnergyReport("run", {**COUNTS, "lane_step": 0}, OPEN).unknown


def test_unknown_counts():
    counts = {name: COUNTS[name] for name in ("mac", "bus_read_byte", "bus_write_byte")}
    report = EnergyReport("run", counts, TABLE)
    assert "scratchpad_read_byte" in report.unknown
    assert report.normalization_adds(bus=True) is None
    assert report.picojoules("mac") == 200


def printed(report):
    paper = io.StringIO()
    print_energy(Console(file=paper, width=150), report)
    return " ".join(paper.getvalue().split())


def test_what_a_profile_would_fill_in_is_said():
    counts = {name: COUNTS[name] for name in ("mac", "bus_read_byte", "bus_write_byte")}
    said = f"How often {len(EVENTS) - 3} of these happened is only known of a run with --profile"
    assert said in printed(EnergyReport("run", counts, TABLE))
    assert "--profile" not in printed(EnergyReport("run", COUNTS, OPEN))


def test_the_table():
    paper = io.StringIO()
    print_energy(Console(file=paper, width=150), EnergyReport("run", COUNTS, OPEN))
    text = paper.getvalue()
    assert "by a table." in text
    assert "Unknown: lane_step." in text
    assert f"adds at least {(UNIT - 1) / REST:.1%}." in text


def test_a_line_has_the_count_the_energy_the_share_and_the_source():
    """2.5 million products at 2 pJ each are 5 uJ; nothing else is known."""
    paper = io.StringIO()
    entries = {"mac": Entry(2.0, "somewhere [1]"), "lane_step": Entry(None, "nobody")}
    counts = {"mac": 2_500_000, "lane_step": 7, "bus_read_byte": 3}
    print_energy(
        Console(file=paper, width=150), EnergyReport("run", counts, EnergyTable("t", entries))
    )
    lines = {line.split()[1]: line for line in paper.getvalue().splitlines() if "│" in line}
    cells = {name: [cell.strip() for cell in line.split("│")[1:-1]] for name, line in lines.items()}
    assert cells["mac"] == ["mac", "2,500,000", "2", "5.00", "100.0%", "somewhere [1]"]
    assert cells["lane_step"][1:] == ["7", "unknown", "unknown", "", "nobody"]
    assert cells["bus_read_byte"][1:] == ["3", "unknown", "unknown", "", ""]


def test_the_sum_below_the_table_is_that_of_its_lines():
    """2.5 million products at 2 pJ, 4 million bytes of the bus at 0.5, a million steps at 3."""
    picojoules = {"mac": 2.0, "bus_read_byte": 0.5, "lane_step": 3.0}
    entries = {name: Entry(pj, "somewhere") for name, pj in picojoules.items()}
    counts = {"mac": 2_500_000, "bus_read_byte": 4_000_000, "lane_step": 1_000_000}
    said = printed(EnergyReport("run", counts, EnergyTable("a [small] table", entries)))
    for line in ("5.00 │ 50.0%", "2.00 │ 20.0%", "3.00 │ 30.0%"):
        assert line in said
    assert "10.0 uJ of what is known, by a [small] table." in said


CLOCKED = EnergyTable(
    "a table",
    {
        **TABLE.entries,
        "command": Entry(1.0, "somewhere", 3.0),
        "clock_cycle": Entry(10.0, "somewhere"),
        "transform_clock_cycle": Entry(5.0, "somewhere"),
    },
)


def test_clock_pins_in_every_cycle_and_gated():
    counts = dict.fromkeys(EVENTS, 0) | {
        "mac": 4,
        "command": 1,
        "clock_cycle": 2,
        "transform_clock_cycle": 2,
        "transform_scratchpad_read_byte": 1,
    }
    report = EnergyReport("run", counts, CLOCKED)
    assert report.document()["known_pj"] == 8 + 1 + 20 + 10 + 2
    assert report.normalization_adds(bus=False) == 12 / 29
    clock = report.document()["clock"]
    assert clock == {
        "pins_pj": 30,
        "gated_known_pj": 8 + 4 + 2,
        "gated_adds_on_chip": 2 / 12,
    }
    assert "normalization adds 16.7% of what the chip alone takes" in printed(report)


def test_a_table_that_is_not_about_clock_pins():
    assert EnergyReport("run", COUNTS, TABLE).document()["clock"] is None
