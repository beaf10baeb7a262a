"""What a run of a model prints beside its tables: from outcomes that are made up."""

from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from celosia.sim.command.outputs.model_tables import outputs_table, print_model
from celosia.sim.run.models.distances import distances
from celosia.sw.frontend.visible_rows import Rows
from celosia.sw.scheduling.memory.memory_plan import MemoryPlan

PLAN = MemoryPlan(addresses={}, end=0, fixed=0, dense=96, peak=64, live_sum=48, gone=frozenset())


def report(check="all", checked=1000, wrong: int | None = 0, plan=None):
    total = SimpleNamespace(elements_checked=checked, mismatches=wrong)
    return SimpleNamespace(setting=SimpleNamespace(check=check), total=total, memory_plan=plan)


def lines(*reports, time=None, host=(), saturated=(), notes=()):
    """What is printed of a model with 3 of 4 products on the accelerator."""
    outcome: Any = SimpleNamespace(
        time=time,
        distances=(),
        reports=reports,
        placement=SimpleNamespace(accelerator_mac_share=0.75, macs=4000),
        host=Counter(dict(host)),
        saturated=Counter(dict(saturated)),
        notes=notes,
    )
    console = Console(width=400, no_color=True)
    with console.capture() as captured:
        print_model(console, outcome)
    return captured.get().splitlines()


PRODUCTS = "75.00% of the 4,000 multiply-accumulates are the accelerator's"


@pytest.mark.parametrize(
    ("reports", "text"),
    [
        ([report()], "0 of 1,000 elements in 1 segment differ from the integer graph"),
        (
            [report(wrong=3), report(checked=500, wrong=None)],
            "3 of 1,500 elements in 2 segments differ from the integer graph",
        ),
        (
            [report("outputs", 96)],
            "0 of 96 elements of the outputs in 1 segment differ from the integer graph",
        ),
        ([report("none", 0, None)] * 2, "nothing in 2 segments was compared"),
    ],
)
def test_what_was_compared_is_added_up(reports, text):
    assert lines(*reports) == [f"{text}; {PRODUCTS}"]
    time = SimpleNamespace(accelerator_time_share=0.125)
    assert lines(*reports, time=time) == [f"{text}; {PRODUCTS}, and 12.50% of the predicted time"]


def test_memory_is_told_of_each_of_several_segments():
    """The table of a single segment says so itself."""
    assert len(lines(report(plan=PLAN))) == 1
    _, only = lines(report(), report(plan=PLAN))
    assert only.startswith("segment 1: memory: tensors that take 96 bytes apart are in 64")


def test_the_host_and_ends_of_ranges_are_told_the_most_first():
    _, host, ends, *notes = lines(
        report(),
        host={"relu": 1, "reshape": 3},
        saturated={"d": 1, "a": 4000, "c": 2, "b": 30},
        notes=["one [x]", "two"],
    )
    assert host == "warning: 4 operators run on the host: 3 reshape, 1 relu"
    assert ends == "4,033 elements at the ends of their ranges: 4,000 of a, 30 of b, 2 of c"
    assert notes == ["note: one [x]", "note: two"]
    _, host, ends = lines(report(), host={"relu": 1}, saturated={"a": 1})
    assert host == "warning: 1 operator runs on the host: 1 relu"
    assert ends == "1 element at the end of its range: 1 of a"


def test_outputs_have_a_caption_where_rows_are_left_out_and_columns_that_something_has():
    real = {"y": np.array([[3.0, 4.0], [0.0, 5.0]]), "logits": np.array([[1.0, 2.0]])}
    found = {"y": np.array([[3.0, 4.5], [0.0, 6.0]]), "logits": np.array([[1.0, 3.0]])}
    rows = {"y": Rows(np.array([True, False]))}
    table = outputs_table(distances(real, found, real, rows))
    heads = [column.head for column in table.columns]
    assert heads == ["output", "SQNR", "exact functions", "cosine", "same largest"]
    # 10 log10(25 / 0.25), of all rows 10 log10(50 / 1.25); 10 log10(5 / 1).
    assert [row.cells[:3] for row in table.rows] == [
        ("y", "20.0 dB", "inf dB"),
        ("logits", "7.0 dB", "inf dB"),
    ]
    # 27 / 5 / sqrt(29.25), and 7 / sqrt(5) / sqrt(10).
    assert [row.cells[3] for row in table.rows] == ["0.99846", "0.98995"]
    assert [row.cells[-1] for row in table.rows] == ["", "100.00%"]
    assert table.caption == (
        "y: 1 of 2 rows counted, those of tokens that somebody sees; all of them give 16.0 dB, "
        "cosine 0.99793"
    )
