"""The document and the tables of a design on an FPGA."""

import io
from dataclasses import replace

from rich.console import Console

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.fpga.implement import Implementation, LongestPath
from celosia.sim.export.silicon.fpga.report import FpgaReport, print_fpga

FOUND = Implementation(
    {"TRELLIS_COMB": (50, 200), "MULT18X18D": (3, 4)},
    {1: 51.0, 2: 62.5},
    LongestPath(("load.rows", "issue.ready"), logic_ns=6.0, wires_ns=10.0),
    {3: "it has taken 2 hours, placing"},
)
REPORT = FpgaReport("tiny", resolve_config("tiny"), "ecp5-85k", ["Yosys 9.9"], FOUND)


def test_the_document():
    document = REPORT.document()
    assert document["schema"] == "celosia.fpga/1"
    assert document["used"] == {
        "LUTs": {"used": 50, "available": 200},
        "multipliers": {"used": 3, "available": 4},
    }
    assert document["fmax_mhz"] == {"1": 51.0, "2": 62.5}
    assert document["best_mhz"] == 62.5
    assert document["given_up"] == {"3": "it has taken 2 hours, placing"}
    assert document["longest"] == {
        "nets": ["load.rows", "issue.ready"],
        "logic_ns": 6.0,
        "wires_ns": 10.0,
    }


def test_the_tables():
    paper = io.StringIO()
    print_fpga(Console(file=paper, width=140), REPORT)
    text = " ".join(paper.getvalue().split())
    assert "25.0%" in text
    assert "6.0 ns in cells and 10.0 ns in wires, by way of load.rows, issue.ready." in text
    assert "Seed 3 was given up: it has taken 2 hours, placing." in text
    assert "Fmax 62.5 MHz (by seed: 1: 51.0, 2: 62.5)" in text


def test_brackets_are_text():
    """Names of nets and what tools say have them, and Rich would take them for its own."""
    paper = io.StringIO()
    found = replace(
        FOUND,
        longest=LongestPath(("rows[bold]",), logic_ns=6.0, wires_ns=10.0),
        given_up={3: "[red] memory"},
    )
    report = replace(REPORT, name="[i]mine", tools=["Yosys [dim]"], found=found)
    print_fpga(Console(file=paper, width=140), report)
    text = " ".join(paper.getvalue().split())
    for said in ("[i]mine on", "by way of rows[bold].", "given up: [red] memory.", "Yosys [dim]."):
        assert said in text
