"""What is printed of checks, and which of them fail."""

import io

import pytest
from rich.console import Console

from celosia.sim.export.silicon.checks.agreement import Agreement
from celosia.sim.export.silicon.checks.checks import Checks
from celosia.sim.export.silicon.checks.flat import FlatCheck, Netlists
from celosia.sim.export.silicon.checks.glitches import Glitches
from celosia.sim.export.silicon.checks.report import print_agreements, print_checks

PAPER_WIDTH = 160


def printed(show, found) -> tuple[str, int | None]:
    paper = io.StringIO()
    code = show(Console(file=paper, width=PAPER_WIDTH), found)
    return " ".join(paper.getvalue().split()), code


@pytest.mark.parametrize(("by", "agree"), [(1_049.9, "do agree"), (1_051.0, "do not agree")])
def test_texts_agree_to_a_twentieth(by, agree):
    """Groups may be further apart: what is said is of all units together."""
    found = [Agreement(0, 1, "", 1_000.0, by), Agreement(0, 1, "lanes", 2_000.0, 3_000.0)]
    text, _ = printed(print_agreements, found)
    assert "│ text 1 │ text 2 │ lanes │ 2.0 │ 3.0 │ +50.0% │" in text
    assert "│ text 1 │ text 2 │ all │ 1.0 │" in text
    apart = "5.0%" if by < 1_051 else "5.1%"
    assert f"All units together: {apart} at most, so that texts {agree} to 5%." in text


def test_less_than_the_other_text_is_apart_as_well():
    text, _ = printed(print_agreements, [Agreement(1, 0, "", 1_000.0, 900.0)])
    assert "│ text 2 │ text 1 │ all │ 1.0 │ 0.9 │ -10.0% │" in text
    assert "10.0% at most, so that texts do not agree" in text


def test_nothing_to_compare():
    assert printed(print_agreements, []) == ("", None)
    # What took nothing is not apart, whatever another text says of it.
    assert Agreement(0, 1, "g", 0.0, 5.0).apart == 0.0


@pytest.mark.parametrize(("units", "code"), [(109.0, 0), (111.0, 1), (91.0, 0), (89.0, 1)])
def test_units_and_the_whole_agree_to_a_tenth(units, code):
    """In the window in which they are furthest apart, either way; clock pins are in it."""
    sums = Netlists(1_300, 2, [90.0, 90.0, units - 10.0, 90.0], 10.0, 1, 7)
    whole = Netlists(3, 4, [90.0] * 4, 10.0, 0, 9)
    text, got = printed(print_checks, Checks(FlatCheck(sums, whole), ()))
    assert got == code
    assert f"They do {'not ' if code else ''}agree to 10%." in text
    assert f"│ 400:600 │ {units:.0f} │ 100 │ {units - 10:.0f} │ 90 │ {units - 100:+.1f}% │" in text
    assert "│ 0:200 │ 100 │ 100 │ 90 │ 90 │ +0.0% │" in text
    assert "600:800" in text
    assert (
        "units: 1,300 outputs of gates, 2 flip-flops, clock pins 10 pJ a cycle; 6 of 7 outputs"
    ) in text
    assert "whole: 3 outputs of gates, 4 flip-flops, clock pins 10 pJ a cycle; 9 of 9" in text


def test_glitches_alone_fail_nothing():
    text, code = printed(print_checks, Checks(None, [Glitches("a cell", 1_500, 2.0, 5.0)]))
    assert code == 0
    assert "│ a cell │ 1,500 │ 2.00 │ 5.00 │ 2.50 │" in text
