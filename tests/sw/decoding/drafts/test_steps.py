"""Drafts on a device: the same text in fewer steps, whatever they are, across buckets and ends."""

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sw.decoding.comparison import Comparison
from celosia.sw.decoding.drafts.draft import draft_of
from celosia.sw.decoding.drafts.lookup import look_up
from celosia.sw.decoding.steps import session_bytes
from celosia.sw.reference.language.sampling import Sampler, generate
from tests.support.decoder_sessions import shared_session
from tests.support.integer_models import quantized, tokens

CONTEXT = 70


class Text:
    """A session whose steps are counted, every tensor compared."""

    def __init__(self, device):
        self.session = shared_session(device, quantized(), CONTEXT, Comparison())
        self.steps = []

    def append(self, tokens):
        logits, steps = self.session.append(tokens)
        self.steps += steps
        return logits

    def go_back(self, length):
        self.session.go_back(length)


@pytest.fixture
def device():
    """A device of the functional model; `base` has the shortest programs."""
    size = session_bytes(quantized(), CONTEXT)
    device = open_device("functional", resolve_config("base", ()), MemoryTiming(), size)
    yield device
    device.close()


def known(following):
    """A source that has the tokens of a text, two of three right."""
    return lambda text: ((following[len(text)] + (len(text) % 3 == 0)) % 40, 1.0)


@pytest.mark.parametrize(
    ("begin", "most", "sampler"),
    [
        (59, 3, Sampler()),
        (60, 15, Sampler(temperature=0.7, top_p=0.9, seed=3)),
        (3, 7, Sampler(temperature=1.5, seed=4)),
    ],
)
def test_a_text_with_drafts_is_the_text_without(device, begin, most, sampler):
    prompt, count = tokens(begin, seed=begin), min(CONTEXT - begin + 1, 12)
    plain = list(generate(Text(device), prompt, count, sampler))
    assert len(plain) == count
    for end in (None, plain[-2]):
        expected = plain if end is None else plain[: plain.index(end)]
        for sources in ([look_up], [known([*prompt, *plain])]):
            text, draft = Text(device), draft_of(most, *sources)
            found = list(generate(text, prompt, count, sampler, end=end, draft=draft))
            assert found == expected
    assert len(text.steps) - -(-begin // 16) < len(expected)


def test_rows_of_integers_do_not_depend_on_how_a_text_was_cut(device):
    text, found = tokens(CONTEXT), []
    for pieces in ([20, *[1] * 12], [20, 2, 4, 6], [16, 16], [5, 8, 9, 10], [1, 15, 13, 3]):
        session = shared_session(device, quantized(), CONTEXT)
        parts = np.split(np.array(text[:32]), np.cumsum(pieces)[:-1])
        found.append(np.concatenate([session.append(part.tolist())[0] for part in parts]))
    assert all((each == found[0]).all() for each in found)
