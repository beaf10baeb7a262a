"""The document and the table of longest paths."""

import io

from rich.console import Console

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.timing.measure import ModulePath
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.report import TimingReport, print_timing, timing_document

CELL = ModulePath("mesh", "accelerator.mesh", RegisterPath("a", "b", 20, 4.0))
SLOW = ModulePath("decoder", "accelerator.decoder", RegisterPath("c[1]", "d", 45, 6.0))
CONFIG = resolve_config("tiny")


def report(*paths: ModulePath) -> TimingReport:
    return TimingReport("tiny", CONFIG, ["Yosys 9.9"], paths)


def test_the_document():
    document = timing_document(report(CELL, SLOW))
    assert document["schema"] == "celosia.timing/1"
    assert document["units"]["decoder"] == {
        "module": "accelerator.decoder",
        "begin": "c[1]",
        "end": "d",
        "levels": 45,
        "ns": 6.0,
        "of_a_cell": 1.5,
    }


def test_levels_are_compared_where_there_is_no_time():
    cell = ModulePath("mesh", "", RegisterPath("a", "b", 20))
    slow = ModulePath("decoder", "", RegisterPath("a", "b", 30))
    assert report(cell, slow).share(slow) == 1.5
    assert report(slow).share(slow) is None


def test_the_table():
    paper = io.StringIO()
    print_timing(Console(file=paper, width=140), report(CELL, SLOW))
    text = paper.getvalue()
    assert text.index("decoder") < text.index("mesh")
    assert "c[1]" in text
    assert "quote no frequency" in text.replace("\n", " ")
