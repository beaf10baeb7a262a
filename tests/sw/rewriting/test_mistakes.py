"""Mistakes are told in one line."""

import pytest

from celosia.sw.rewriting.mistakes import told


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("a  b\nc"), "ValueError: a b c"),
        (AssertionError(), "AssertionError"),
        (KeyError("x"), "KeyError: 'x'"),
        (TypeError("word " * 100), f"TypeError: {'word ' * 39} ..."),
    ],
)
def test_an_error_is_its_kind_and_its_words(error, text):
    assert told(error) == text.replace("  ", " ")
