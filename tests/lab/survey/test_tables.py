"""Tables of the survey against numbers by hand."""

import csv
import io

import pytest
from rich.console import Console

from celosia.lab.survey.parts.values import Item, Scope, Value
from celosia.lab.survey.survey import Survey
from celosia.lab.survey.tables import csv_text, summary_table

VALUES = (
    Value(name="same", paper=100.0, ours=100.0, kind="arithmetic"),
    Value(name="near", paper=100.0, ours=100.9, kind="model"),
    Value(name="less", paper=200.0, ours=150.0, kind="rtl", settings={"seq": 8, "dim": 16}),
    Value(name="more", paper=100.0, ours=101.1, kind="rtl", note="a, b", unit="cycles"),
    Value(name="ours alone", ours=7.0, kind="rtl"),
    Value(name="theirs alone", paper=7.0, ours=None, kind="rtl"),
)


def item(*values, missing=""):
    return Item(id="fig1", title="Figure [1]", where="", values=values, notes=(), missing=missing)


def cells(*items):
    paper = io.StringIO()
    Console(width=160, file=paper).print(summary_table(Survey(items=items, scope=Scope())))
    lines = [line for line in paper.getvalue().splitlines() if "│" in line]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_an_item_has_its_numbers_those_that_are_near_and_the_farthest():
    """Two of four are within 1 %; the farthest one is below."""
    (line,) = cells(item(*VALUES))
    assert line == ["fig1", "Figure [1]", "6", "2 of 4", "-25.0 %", ""]


def test_without_a_number_to_compare_there_is_no_distance():
    (line,) = cells(item(VALUES[4], missing="no [yosys]"))
    assert line == ["fig1", "Figure [1]", "1", "", "", "no [yosys]"]


def test_values_are_lines_of_csv():
    rows = [*csv.DictReader(io.StringIO(csv_text(item(*VALUES))))]
    assert [row["name"] for row in rows] == [value.name for value in VALUES]
    less, more = rows[2], rows[3]
    assert (float(less["paper"]), float(less["ours"])) == (200, 150)
    assert float(less["difference"]) == -0.25
    assert less["settings"] == "seq=8 dim=16"
    assert (more["note"], more["unit"], more["kind"]) == ("a, b", "cycles", "rtl")
    assert (rows[4]["paper"], rows[5]["ours"]) == ("", "")


def test_a_kind_that_is_none_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match="'guess' is not one of rtl, rtl x layers, model, arith"):
        Value(name="x", ours=1.0, kind="guess")
