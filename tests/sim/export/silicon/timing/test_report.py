"""The document and the table of longest paths."""

import io

import pytest
from rich.console import Console

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.timing.between import Between
from celosia.sim.export.silicon.timing.bounds import Bound
from celosia.sim.export.silicon.timing.measure import Measured, ModulePath
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.report import TimingReport, print_timing
from celosia.sim.export.silicon.timing.times import Workload

CELL = ModulePath("mesh", "accelerator.mesh", RegisterPath("a", "b", 20, 4.0, 0.2))
SLOW = ModulePath("decoder", "accelerator.decoder", RegisterPath("c[1]", "d", 45, 6.0, 0.2))
QUICK = ModulePath("decoder", "accelerator.decoder", RegisterPath("g", "h", 12, 3.0, 0.2))
CONFIG = resolve_config("tiny")
BETWEEN = [
    Between(
        "accelerator.issue",
        f"part_{n}",
        RegisterPath("accelerator.issue.e", f"part_{n}.f", 9, 8.0 - n / 10, 0.25),
    )
    for n in range(11)
]


def report() -> TimingReport:
    measured = [Measured("default", [CELL, SLOW], BETWEEN), Measured("prefix", [CELL, QUICK])]
    bounds = [Bound("default", "within", 6.5, 6.0), Bound("prefix", "within", 2.5, 3.0)]
    return TimingReport(
        "tiny", CONFIG, ["Yosys 9.9"], measured, [Workload("a layer", 1_000_000)], bounds
    )


def test_the_document():
    document = report().document()
    assert document["schema"] == "celosia.timing/2"
    default, prefix = document["scripts"].values()
    assert default["units"]["decoder"] == {
        "module": "accelerator.decoder",
        "begin": "c[1]",
        "end": "d",
        "levels": 45,
        "ns": 6.0,
        "set_up": 0.2,
        "of_a_cell": 1.5,
    }
    assert prefix["units"]["decoder"]["of_a_cell"] == 0.75
    assert prefix["abc"].startswith("-D 2000")


def test_a_cycle_is_as_long_as_the_longest_of_all_paths():
    default, prefix = report().document()["scripts"].values()
    assert default["period_ns"] == 8.25
    assert prefix["period_ns"] == 4.2


def test_time_and_what_of_it_is_for_the_clock():
    default, prefix = report().document()["scripts"].values()
    assert default["workloads"]["a layer"]["us"] == pytest.approx(8_250)
    # By the multiply-add alone, which wants 4.2 ns, it would be 4,200.
    assert default["workloads"]["a layer"]["us_for_the_clock"] == pytest.approx(4_050)
    assert prefix["workloads"]["a layer"]["us_for_the_clock"] == 0
    assert "│ a layer │ 1,000,000 │ 8,250 │ 4,050 │ 4,200 │ 0 │" in printed(report())


def test_a_bound_that_does_not_hold():
    one = report()
    assert not one.right
    assert [each["holds"] for each in one.document()["bounds"]] == [True, False]
    text = printed(one)
    assert "default: 6.00 ns within modules, bound 6.5 prefix:" in text
    assert "prefix: 3.00 ns within modules, bound 2.5 NOT HELD" in text
    assert TimingReport("tiny", CONFIG, [], one.measured, [], one.bounds[:1]).right


def test_ten_paths_between_modules():
    document = report().document()
    first, *_, last = document["scripts"]["default"]["between"]
    assert (first["begin_module"], first["end_module"]) == ("accelerator.issue", "part_0")
    assert first["of_a_cell"] == 2.0
    assert last["end_module"] == "part_9"
    assert document["memory_ns"]["access"] > 0


def test_the_document_says_what_was_assumed():
    """Times of memories, and the load of an output, as docs/silicon.md has them."""
    document = report().document()
    assert document["memory_ns"] == {"access": 2.0, "set_up": 0.5}
    assert document["load_pf"] == 0.05
    assert "memories: 2 ns to data, set-up 0.5 ns" in printed(report())


def test_levels_are_compared_where_there_is_no_time():
    cell = ModulePath("mesh", "", RegisterPath("a", "b", 20))
    slow = ModulePath("decoder", "", RegisterPath("a", "b", 30))
    assert Measured("levels", [cell, slow]).share(slow.path) == 1.5
    assert Measured("levels", [slow]).share(slow.path) is None
    levels = TimingReport("tiny", CONFIG, [], [Measured("levels", [cell, slow])])
    assert levels.document()["scripts"]["levels"]["period_ns"] is None
    text = printed(levels)
    assert "a cycle takes" not in text
    assert "30" in text


def printed(one: TimingReport) -> str:
    paper = io.StringIO()
    print_timing(Console(file=paper, width=160), one)
    return " ".join(paper.getvalue().split())


def test_the_tables():
    text = printed(report())
    assert text.index("decoder") < text.index("mesh")
    assert "│ decoder │ 6.00 │ 1.50 │ 3.00 │ 0.75 │ c[1] │ d │" in text
    # One script alone has looked at what is between modules.
    assert "│ issue to part_9 │ 7.10 │ 1.77 │ │ │ e │ f │" in text
    assert "issue to part_10" not in text
    taken = "default: a cycle takes 8.25 ns, 0.25 of it set-up, by the path from "
    assert f"{taken}accelerator.issue.e to part_0.f." in text
    assert "prefix: a cycle takes 4.20 ns" in text
    assert "quote no frequency" in text
