"""Numbers as people read them."""

import pytest

from celosia.lab.survey.parts.numbers import number_text


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (0.31234, "0.3123"), (1234.5, "1,234"), (-2e9, "-2,000,000,000"), (0, "0")],
)
def test_a_number_has_four_digits_or_all(value, text):
    assert number_text(value) == text
