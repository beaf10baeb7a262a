"""The document and the table of longest paths."""

import io

from rich.console import Console

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.timing.between import Between
from celosia.sim.export.silicon.timing.measure import ModulePath
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.report import TimingReport, print_timing

CELL = ModulePath("mesh", "accelerator.mesh", RegisterPath("a", "b", 20, 4.0))
SLOW = ModulePath("decoder", "accelerator.decoder", RegisterPath("c[1]", "d", 45, 6.0))
CONFIG = resolve_config("tiny")


BETWEEN = [
    Between("issue", f"part_{n}", RegisterPath("e", "f", 9, 8.0 - n / 10)) for n in range(11)
]


def report(*paths: ModulePath) -> TimingReport:
    return TimingReport("tiny", CONFIG, ["Yosys 9.9"], paths, BETWEEN)


def test_the_document():
    document = report(CELL, SLOW).document()
    assert document["schema"] == "celosia.timing/1"
    assert document["units"]["decoder"] == {
        "module": "accelerator.decoder",
        "begin": "c[1]",
        "end": "d",
        "levels": 45,
        "ns": 6.0,
        "of_a_cell": 1.5,
    }


def test_ten_paths_between_modules():
    document = report(CELL).document()
    first, *_, last = document["between"]
    assert (first["begin_module"], first["end_module"]) == ("issue", "part_0")
    assert first["of_a_cell"] == 2.0
    assert last["end_module"] == "part_9"
    assert document["memory_ns"]["access"] > 0


def test_levels_are_compared_where_there_is_no_time():
    cell = ModulePath("mesh", "", RegisterPath("a", "b", 20))
    slow = ModulePath("decoder", "", RegisterPath("a", "b", 30))
    assert report(cell, slow).share(slow.path) == 1.5
    assert report(slow).share(slow.path) is None


def test_the_table():
    paper = io.StringIO()
    print_timing(Console(file=paper, width=140), report(CELL, SLOW))
    text = paper.getvalue()
    assert text.index("decoder") < text.index("mesh")
    assert "c[1]" in text
    assert "issue to part_9" in text
    assert "issue to part_10" not in text
    assert "quote no frequency" in text.replace("\n", " ")
