"""The document and the tables of an area."""

import io
import json
from dataclasses import replace

from rich.console import Console

from celosia.sim.export.silicon.area.compared import FROZEN
from celosia.sim.export.silicon.area.report import AreaReport, print_area
from celosia.sim.export.silicon.synthesis.mapping import Mapper
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from tests.support.areas import FULL, LEAN
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
