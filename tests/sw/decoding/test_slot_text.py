"""How far a text goes back whose caches are rings: with steps that compute nothing."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from celosia.sw.decoding.rings import Ring
from celosia.sw.decoding.session import SlotText

VOCABULARY = 9


def text_of(*rings: Ring) -> SlotText:
    """A text whose steps take all tokens at once, and whose logits are their numbers."""
    steps: Any = SimpleNamespace(
        rings=rings,
        context=500,
        model=SimpleNamespace(vocabulary=VOCABULARY),
        pieces=lambda _, tokens: [tokens],
        take=lambda _, pieces: ([np.array([[n] for n in piece]) for piece in pieces], "step"),
    )
    return SlotText(steps)


def test_a_text_goes_back_as_far_as_the_ring_with_the_least_slack():
    """Of 64 keys 12 are seen, and of 128 keys 100: 28 tokens may be overwritten."""
    text = text_of(Ring(12, 64), Ring(100, 128))
    logits, steps = text.append([1] * 90)
    assert (logits.shape, steps) == ((90, 1), ["step"])
    text.go_back(70)
    # What counts is how long it was, not how long it is.
    with pytest.raises(ValueError, match="length: 61 is more than 28 before the 90 tokens"):
        text.go_back(61)
    text.go_back(62)
    assert text.length == 62
    text.append([2] * 10)
    with pytest.raises(ValueError, match="length: 61 is more than 28 before the 90 tokens"):
        text.go_back(61)


def test_an_empty_text_begins_anew():
    text = text_of(Ring(12, 64))
    text.append([1] * 90)
    text.go_back(0)
    assert (text.length, text.place.context) == (0, 0)
    text.append([1] * 20)
    text.go_back(1)
    assert text.length == 1


def test_without_rings_a_text_goes_back_to_any_length():
    text = text_of()
    text.append([1] * 90)
    for length in (89, 50, 1, 0):
        text.go_back(length)
        assert text.length == length
