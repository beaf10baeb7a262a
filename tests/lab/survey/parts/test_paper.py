"""The survey's numbers: how they were rounded, and that every one is used."""

import pytest

from celosia.lab.survey.parts.paper import Printed, paper
from celosia.lab.survey.survey import study_ids


@pytest.mark.parametrize(
    ("text", "rounding"), [("0.42e9", 5e6), ("5", 0.5), ("231.0", 0.05), ("60e9", 0.5e9)]
)
def test_the_digits_say_how_a_number_was_rounded(text, rounding):
    assert Printed(text).rounding == pytest.approx(rounding)


def test_an_interval_has_both_ends_and_can_be_wider():
    five = Printed("5")
    assert five.holds(4.5)
    assert five.holds(5.5)
    assert not five.holds(4.49)
    assert five.holds(4.05 + 1e-9, 0.1)
    assert not five.holds(4.04, 0.1)
    assert not five.holds(6.06, 0.1)


def test_each_table_is_of_an_item_and_says_where_it_is():
    for name in paper().tables:
        assert name in {*study_ids(), "machine", "text"}
        assert paper().where(name)


def test_a_number_that_is_not_there_is_named():
    assert paper().printed("tab3", "l=1 total MOPs") is None
    with pytest.raises(KeyError, match="tab3: l=1"):
        paper().value("tab3", "l=1 total MOPs")
