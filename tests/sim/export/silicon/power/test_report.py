"""What is printed of measured energies."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from celosia.sim.export.silicon.energy.table import EnergyTable, Entry
from celosia.sim.export.silicon.power.report import CellCheck, PowerReport, print_power
from tests.sim.export.silicon.power.test_table_file import sample

TABLE = EnergyTable(
    "mine",
    {
        "mac": Entry(1.23456, "cells", 0.5),
        "command": Entry(2.0, "decoder"),
        "lane_step": Entry(None, "nobody knows"),
    },
)
CELL = CellCheck(zero=0.125, real=3.0, random=4.5)


def printed(report: PowerReport) -> str:
    paper = io.StringIO()
    print_power(Console(file=paper, width=160), report)
    return " ".join(paper.getvalue().split())


def test_entries_and_how_many_outputs_are_right():
    samples = [sample(1, 2.0), sample(2, 2.0)]
    samples[0].wrong.update({"a.x": 0.5, "a.y": 0.25})
    samples[1].wrong["a.x"] = 1.0
    text = printed(PowerReport(TABLE, CELL, samples, 1_234))
    assert text.startswith("mine")
    assert "│ event │ pJ │ and clock pins, gated │ source │" in text.replace("┃", "│")
    assert "│ mac │ 1.235 │ 0.5 │ cells │" in text
    assert "│ command │ 2 │ │ decoder │" in text
    assert "│ lane_step │ unknown │ │ nobody knows │" in text
    assert "0.12 pJ with zeros, 3.00 in layers, 4.50 with random numbers: ordered." in text
    # Three outputs of 1,234 were wrong in some cycle of a window.
    assert "1,231 of 1,234 outputs of modules are in all cycles what was recorded" in text


@pytest.mark.parametrize("change", [{"zero": 3.0}, {"zero": 3.5}, {"random": 3.0}, {"random": 2.0}])
def test_what_is_not_ordered(change):
    """Zeros take less than layers, and those less than random numbers; a tie is no order."""
    cell = replace(CELL, **change)
    assert not cell.ordered
    assert "random numbers: not ordered." in printed(PowerReport(TABLE, cell, [], 0))
