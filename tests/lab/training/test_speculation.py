"""What drafts gain is counted right."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.training.speculation import PROMPT, Clock, gain, go_on, prompts, replay
from celosia.sim.devices.devices import open_device
from celosia.sw.decoding.drafts.draft import draft_of
from celosia.sw.decoding.drafts.lookup import look_up
from celosia.sw.decoding.steps import Step, session_bytes
from celosia.sw.decoding.texts import Text
from celosia.sw.reference.language.sampling import Sampler
from tests.support.decoder_sessions import shared_session
from tests.support.integer_models import quantized, tokens

CONTEXT = 24


@pytest.fixture
def device():
    """A device of the functional model; `base` has the shortest programs."""
    size = session_bytes(quantized(), CONTEXT)
    device = open_device("functional", resolve_config("base", ()), MemoryTiming(), size)
    yield device
    device.close()


def test_prompts_are_the_same_share_of_all_documents_that_are_long_enough():
    documents = [[number] * (PROMPT + number % 2) for number in range(20)]
    assert prompts(documents, 5) == [[number] * PROMPT for number in (1, 5, 9, 13, 17)]
    assert prompts(documents, 2, 99) == [[1] * (PROMPT + 1), [11] * (PROMPT + 1)]


def test_a_replay_takes_the_steps_of_the_text():
    text = [1, 2, 3, 1, 2, 3, 1, 2, 4, 5]
    # 3 and 1 follow 1, 2, as they did at first; 3 does not again, and one is left.
    assert replay(text, 4, draft_of(2, look_up), 10) == [(4, 3), (7, 2), (8, 1)]
    assert replay(text, 4, None, 8) == [(4, 1), (5, 1), (6, 1)]
    assert replay(text, 4, None, 5) == []


def test_a_text_on_a_device_takes_the_steps_of_its_replay(device):
    session, begin, count = shared_session(device, quantized(), CONTEXT), tokens(5), 12
    plain, steps = go_on(session, begin, count, Sampler(), None)
    assert [step.text for step in steps] == [Text(5 + more, 1) for more in range(count - 1)]
    draft = draft_of(7, look_up, lambda text: (text[-1], 0.5))
    found, steps = go_on(session, begin, count, Sampler(), draft)
    assert found == plain
    expected = replay([*begin, *plain], 5, draft, 5 + count)
    assert [(step.text.context, step.text.rows) for step in steps] == expected


class Counting(Clock):
    """A clock of a device that takes a hundred cycles, and ten for each row."""

    def __init__(self):
        pass

    def step(self, context, tokens):
        return Step((Text(context, tokens),), 1, (), 800)

    def cycles(self, steps):
        return sum(100 + 10 * tokens for _, tokens in steps)


def test_gains_are_of_all_texts():
    texts = [[1, 2, 3, 1, 2, 3, 1, 2, 4, 5], [7, 7, 7, 7, 7, 8]]
    found = gain(texts, 4, draft_of(2, look_up), 10, Counting(), 16)
    # The second one has a single token left, for which nothing is foretold.
    assert found.steps == 3 + 1
    assert found.tokens == 5 + 1
    assert (found.foretold, found.accepted) == (3, 2)
    assert found.cycles == 130 + 120 + 110 + 110
    assert found.plain_cycles == 6 * 110
    assert found.times == pytest.approx(660 / 470)
    assert found.tokens_per_limit == pytest.approx(6 * 50 / 470)


def test_each_number_of_rows_is_run_once_in_a_bucket(device):
    clock = Clock(device, quantized(), CONTEXT)
    clock.session = shared_session(device, quantized(), CONTEXT)
    first = clock.step(3, 5)
    assert (first.rows, first.text) == (8, Text(0, 5))
    assert clock.step(11, 8) is first
    assert clock.step(11, 4) is not first
    assert clock.session.length == 4
    assert clock.cycles([(3, 5), (9, 1)]) == 0
