"""`celosia plan`."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from celosia.sim.command.outputs.plan_report import (
    Plan,
    _rejected_table,
    plan_tables,
    plan_workload,
)
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import Matmul
from celosia.sw.compiler.alternatives import Rejected
from tests.support.command_line import invoke, refused, right

ATTENTION = ("attention", "--heads", "2", "--seq", "9", "--dim", "8", "--preset", "tiny")


def test_a_plan_has_decisions_operators_and_rejected_choices():
    document = json.loads(right("plan", *ATTENTION, "--json", "-").stdout)
    assert document["schema"] == Plan.schema
    (program,) = document["programs"]
    assert program["predicted_cycles"] == document["predicted_cycles"] > 0
    decisions = {each["name"]: each["value"] for each in program["decisions"]}
    assert decisions["kept on chip"] == "numerators, sums"
    assert "ring of weights" in decisions
    assert decisions["heads"] == (
        "9 queries and 9 keys of 8, values of 8: blocks of up to 3 rows; all scores of a block at "
        "once; keys and values stay until the next head"
    )
    assert {each["choice"] for each in program["rejected"]} >= {"block_tiles", "overlap"}


def test_the_same_cycles_are_predicted_before_a_run():
    planned = json.loads(right("plan", *ATTENTION, "--json", "-").stdout)
    run = json.loads(right("run", *ATTENTION, "--sim", "functional", "--json", "-").stdout)
    assert planned["predicted_cycles"] == run["predicted_cycles"]


def test_a_product_is_planned():
    options = RunOptions(
        workload="matmul", details=Matmul(shape="9x8x7"), target=Target(preset="tiny")
    )
    plan = plan_workload(options, silent)
    (program,) = plan.programs
    assert program.name == "matmul 9x8x7"
    assert [table.title for table in plan_tables(plan)][-1] == "Rejected, all else as decided"


def test_what_cannot_be_planned_is_refused():
    refused("there is no workload 'x'", "plan", "x")
    refused("--shape is no option of attention", "plan", *ATTENTION, "--shape", "3x4")
    refused("needs a normalization unit", "plan", *ATTENTION[:-2], "--preset", "small")
    assert invoke("plan", "softmax").exit_code == 2
    with pytest.raises(InputError, match="compiled already"):
        plan_workload(RunOptions(workload="x.cel"), silent)


def test_alternatives_stand_with_what_they_take_more():
    rejected = (
        Rejected("a", "1", 1100),
        Rejected("b", "2", 995, "saves less than 1%"),
        Rejected("c", "3", None, "too [large]"),
    )
    program: Any = SimpleNamespace(predicted_cycles=1000, rejected=rejected, scaled=True)
    table = _rejected_table(program)
    assert (
        table.title == "Rejected, all else as decided (compared on a part of the graph, and scaled)"
    )
    assert list(zip(*(column.cells for column in table.columns), strict=True)) == [
        ("a", "1", "1,100", "+10.00%", ""),
        ("b", "2", "995", "-0.50%", "saves less than 1%"),
        ("c", "3", "-", "-", r"too \[large]"),
    ]
