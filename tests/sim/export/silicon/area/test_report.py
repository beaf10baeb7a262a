"""The document and the tables of an area."""

import io
import json
from dataclasses import replace

from rich.console import Console

from celosia.sim.export.silicon.area.compared import FROZEN
from celosia.sim.export.silicon.area.report import AreaReport, print_area
from celosia.sim.export.silicon.synthesis.mapping import Mapper
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from tests.support.areas import FULL, LEAN, QUEUE, SCRATCHPAD
from tests.support.cells import LIBRARY

MAPPER = Mapper(Yosys(("yosys",), "Yosys 9.9"), LIBRARY)
REPORT = AreaReport("tiny", FULL, MAPPER, "normalization", LEAN, "other", LEAN)


def test_the_document():
    document = json.loads(json.dumps(REPORT.document()))
    assert document["schema"] == "celosia.area/1"
    assert document["tools"] == {"yosys": "Yosys 9.9", "cells": "demo cells"}
    assert document["logic"] == {"kge": 4.5, "um2": 18000.0, "flip_flops": 170}
    assert document["units"]["decoder"]["kge"] == 1.2
    assert document["small_memories_kge"] == 1.0
    assert document["normalization"]["logic"] == 0.5
    assert 0.13 < document["normalization"]["with_sram"] < 0.14
    assert document["without_normalization"]["logic"]["kge"] == 3.0
    assert document["against"]["preset"] == "other"
    assert document["against"]["growth"] == document["normalization"]
    reads = {memory["path"]: memory["clocked_reads"] for memory in document["memories"]}
    assert reads["accelerator.parameters.rows"] == 3
    assert [memory["black_box"] for memory in document["memories"]] == [
        "scratchpad",
        "parameters",
        None,
    ]


def test_a_share_of_the_frozen_design():
    lean = replace(LEAN, config=FROZEN.config)
    base = AreaReport("base", FULL, MAPPER, "normalization", lean)
    assert base.document()["of_frozen"]["logic"] == 1500 / 799_700
    assert REPORT.document()["of_frozen"] is None
    paper = io.StringIO()
    print_area(Console(file=paper, width=200), base)
    assert "normalization adds 0.2% of the cells of the lean base of a61ea25, 0.3%" in (
        paper.getvalue()
    )


def test_a_design_without_the_unit_says_nothing_of_it():
    document = AreaReport("tiny", LEAN, MAPPER).document()
    assert not {"normalization", "bert", "against"} & document.keys()


def rows_of(report: AreaReport) -> dict[str, list[str]]:
    """The rows of all tables by their first column; of two alike, the second has a ' on it."""
    paper = io.StringIO()
    print_area(Console(file=paper, width=160), report)
    rows: dict[str, list[str]] = {}
    for line in paper.getvalue().splitlines():
        name, *cells = (cell.strip() for cell in line.split("│")[1:-1] or [""])
        while name in rows:
            name += "'"
        rows[name] = cells
    return rows


def test_memories_as_boxes_and_as_latches():
    """Boxes that are alike are one row; what a latch costs is four gates."""
    two = replace(FULL, memories=[replace(SCRATCHPAD, path=f"{SCRATCHPAD.path}_b"), *FULL.memories])
    rows = rows_of(AreaReport("tiny", two, MAPPER))
    assert rows["scratchpad"] == ["2", "1,000", "80", "1", "160,000"]
    assert rows["parameters"] == ["1", "100", "100", "3", "10,000"]
    assert rows["store.unit.rows.memory"] == ["10", "25", "250", "1.0", "combinationally"]
    assert rows["all"] == ["", "", "250", "1.0", ""]
    clocked = replace(QUEUE, path="accelerator.loops.counts", reads=1)
    rows = rows_of(AreaReport("tiny", replace(FULL, memories=[clocked]), MAPPER))
    assert rows["loops.counts"] == ["10", "25", "250", "1.0", "clocked"]


def test_sums_and_what_is_more_in_each():
    """A row has what is more than without the unit, and than in another design: here the same."""
    rows = rows_of(AreaReport("tiny", FULL, MAPPER, "normalization", LEAN, "other", FULL))
    assert rows["cells"] == ["4.5", "+1.5 kGE, +50.0%", "+0.0 kGE, +0.0%"]
    assert rows["cells and small memories as latches"] == ["5.5", "+2.5 kGE", "+0.0 kGE"]
    assert rows["cells, all memories at 6 transistors a bit"] == ["139.9", "+13.7%", "+0.0%"]
    assert rows["the same, n read ports as n copies"] == ["169.9", "+38.1%", "+0.0%"]
    name = "cells, latches, black boxes at 6 transistors a bit"
    assert rows[name] == ["140.5", "+14.2%", "+0.0%"]
    assert rows["the same, n read ports as n copies'"] == ["170.5", "+38.6%", "+0.0%"]
    assert rows["decoder"] == ["1.2", "4,800", "60", "26.7%", "1.0", "1.2"]
    assert rows["logic"] == ["4.5", "18,000", "170", "100.0%", "3.0", "4.5"]


def test_the_document_says_how_memories_count():
    assert REPORT.document()["counting"] == {
        "macro_bits": 4096,
        "latch_gates": 4.0,
        "transistors_per_bit": 6,
        "transistors_per_gate": 4,
    }


def test_the_tables():
    paper = io.StringIO()
    print_area(Console(file=paper, width=140), REPORT)
    text = paper.getvalue()
    lines = {line.split("│")[1].strip(): line for line in text.splitlines() if "│" in line}
    words = [part.strip() for part in lines["lanes: sums"].split("│")[1:-1]]
    assert words == ["lanes: sums", "1.3", "5,200", "10", "28.9%", "0.0", "0.0"]
    assert "+1.5 kGE, +50.0%" in lines["cells"]
    assert "store.unit.rows.memory" in text
    assert "no wires" in text
