"""What plans that ran say about the model, in numbers and words."""

import pytest

from celosia.lab.mappings.measured import MeasuredPlans, measured_lines

MEASURED = MeasuredPlans(
    chosen=[{"tiles": number} for number in range(4)],
    predicted=[330.0, 80.0, 110.0, 400.0],
    cycles=[100, 160, 200, 500],
)
"""The plan that takes 100 cycles is expected last of those that take up to twice as many."""


def test_order_is_of_plans_up_to_a_multiple_of_the_fewest_cycles():
    # Ranks 3, 1, 2, 4 and 3, 1, 2 beside 1, 2, 3, 4: 1 - 6 * sum of squares / (n^3 - n).
    assert MEASURED.order() == pytest.approx(1 - 6 * 6 / 60)
    assert MEASURED.order(2) == pytest.approx(1 - 6 * 6 / 24)
    assert MEASURED.order(1.9) == pytest.approx(-1)


def test_errors_are_shares_of_the_cycles_that_were_measured():
    assert MEASURED.mean_error == pytest.approx((2.3 + 0.5 + 0.45 + 0.2) / 4)


def test_words_say_the_same():
    assert list(measured_lines(MEASURED)) == [
        "4 plans on the RTL, 100 to 500 cycles: predictions are off by 86.25% on average; rank "
        "correlation 0.400, of plans up to twice the best -0.500"
    ]


def test_a_plan_stands_with_its_own_cycles():
    plans = MEASURED.plans
    assert [(each.chosen["tiles"], each.predicted, each.cycles) for each in plans[:2]] == [
        (0, 330.0, 100),
        (1, 80.0, 160),
    ]
