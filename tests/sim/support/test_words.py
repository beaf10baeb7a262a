"""Words for people."""

import pytest

from celosia.sim.support.words import counted


@pytest.mark.parametrize(
    ("number", "words", "text"),
    [
        (0, ("segment",), "0 segments"),
        (1, ("segment",), "1 segment"),
        (2000, ("segment",), "2,000 segments"),
        (1, ("entry", "entries"), "1 entry"),
        (3, ("entry", "entries"), "3 entries"),
    ],
)
def test_one_thing_is_not_several(number, words, text):
    assert counted(number, *words) == text
