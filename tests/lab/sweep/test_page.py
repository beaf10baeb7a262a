"""The page of a sweep counts every point once, under what became of it."""

import re

import pytest

from celosia.lab.sweep.front import TIME
from celosia.lab.sweep.page import sweep_page

pytest.importorskip("plotly")

LEGAL = {"cycles": 9, "read_bytes": 4, "write_bytes": 2}
BECAME = [
    *[LEGAL] * 4,
    *[{"refused": "a < b"}] * 3,
    {"failed": "its worker ended 2 times"},
    *[LEGAL | {"wrong": "5 wrong elements"}] * 2,
]


def lines():
    return [
        {"key": f"k{n}", "run": "matmul --shape 4x4x4", "sim": "model", "space": {"x": n}, **found}
        for n, found in enumerate(BECAME)
    ]


def tiles(text):
    """The numbers at the head of a page, by what they are of."""
    found = re.findall(r">([\d,]+)</\w+>\s*<\w+[^>]*>([a-z ]+)</", text)
    return {label: int(number.replace(",", "")) for number, label in found}


def test_each_point_is_counted_where_it_belongs(tmp_path):
    found = tiles(sweep_page(lines(), "space.toml", tmp_path))
    wanted = {"points": 10, "measured": 4, "refused": 3, "wrong or failed": 3}
    assert {label: found.get(label) for label in wanted} == wanted
    assert "without a period" not in found


def test_points_without_a_period_are_counted_where_time_is_asked_for(tmp_path):
    first, *others = lines()
    clocked = [first | {TIME: 3.0}, *others]
    found = tiles(sweep_page(clocked, "space.toml", tmp_path, TIME))
    assert (found["measured"], found["without a period"]) == (4, 3)


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("k4", "refused: a &lt; b"),
        ("k7", "failed: its worker ended 2 times"),
        ("k8", "wrong: 5 wrong elements"),
    ],
)
def test_a_row_says_what_became_of_its_point(tmp_path, key, words):
    (row,) = re.findall(rf'<tr id="{key}">.*?</tr>', sweep_page(lines(), "s", tmp_path), re.S)
    assert words in row
