"""Texts beside each other are those that they are alone."""

from functools import cache

import numpy as np
import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sw.decoding.batch import generate_texts
from celosia.sw.decoding.comparison import Comparison
from celosia.sw.decoding.session import SlotText
from celosia.sw.decoding.steps import ROWS, Steps, session_bytes
from celosia.sw.decoding.texts import Place
from celosia.sw.reference.language.sampling import Sampler, generate
from tests.support.decoder_sessions import share_programs, shared_session
from tests.support.integer_models import quantized, tokens

CONTEXT = 70
DRAWN = Sampler(temperature=1.0, seed=3)


def opened(slots, preset="base", simulator="functional", context=CONTEXT):
    """Steps on a device, compared with the integer graph; `base` has the shortest programs."""
    size = session_bytes(quantized(), context, slots)
    device = open_device(simulator, resolve_config(preset, ()), MemoryTiming(), size)
    steps = Steps(device, quantized(), context, slots, Comparison())
    share_programs(steps)
    return steps


class Alone:
    """A text alone (`Continued`)."""

    def __init__(self, context):
        size = session_bytes(quantized(), context)
        device = open_device("functional", resolve_config("base", ()), MemoryTiming(), size)
        self.session = shared_session(device, quantized(), context)

    def append(self, tokens):
        return self.session.append(tokens)[0]

    def go_back(self, length):
        self.session.go_back(length)


@cache
def alone(prompt, count, sampler=DRAWN, end=None):
    return list(generate(Alone(CONTEXT), list(prompt), count, sampler, end=end))


def texts(steps, prompts, count, sampler=DRAWN, end=None, told=lambda step, prompt: None):
    """What follows each prompt, in the order of prompts, and which texts ended first."""
    found, ended = [[] for _ in prompts], []
    for each in generate_texts(steps, prompts, count, sampler, end=end, told=told):
        if each.token is None:
            ended.append(each.text)
        else:
            assert each.text not in ended
            found[each.text].append(each.token)
    steps.device.close()
    assert sorted(ended) == list(range(len(prompts)))
    return found, ended


def prompts(*lengths):
    return [tokens(length, seed) for seed, length in enumerate(lengths)]


@pytest.mark.parametrize(
    ("preset", "slots", "longest"),
    [
        # `test_rtl_computes_the_same` is of this preset, too.
        pytest.param("tiny", 2, 4, marks=pytest.mark.nightly),
        ("base", 4, 62),
    ],
)
def test_each_text_is_the_one_that_it_is_alone(preset, slots, longest):
    """Programs change where one has 64 tokens."""
    given = prompts(1, 2, 1, longest, 4)
    steps, comparison = opened(slots, preset), Comparison()
    steps.behind = comparison
    found, _ = texts(steps, given, 4)
    assert found == [alone(tuple(prompt), 4) for prompt in given]
    assert comparison.elements


def test_a_text_that_ends_makes_room_for_the_next():
    given = prompts(4, 7, 2, 9, 30, 6)
    whole = [alone(tuple(prompt), 6) for prompt in given]
    end = whole[0][1]
    expected = [row[: row.index(end)] if end in row else row for row in whole]
    assert len({len(row) for row in expected}) > 1
    taken = []
    found, _ = texts(
        opened(2), given, 6, end=end, told=lambda step, prompt: taken.append((prompt, step))
    )
    assert found == expected
    # A text that is the last one left goes on alone.
    assert {len(step.texts) for prompt, step in taken if not prompt} == {1, 2}
    assert [len(step.texts) for prompt, step in taken if prompt] == [1] * 7
    assert sum(prompt for prompt, _ in taken) == 7


def test_a_token_that_ends_a_text_at_once_leaves_it_empty():
    given = prompts(4, 7)
    first = alone(tuple(given[0]), 1)[0]
    found, ended = texts(opened(2), given, 3, end=first)
    assert found[0] == []
    assert ended[0] == 0


def test_places_that_no_text_has_take_rows_of_free_slots():
    """Three texts are a step of four rows, and the fourth slot may be taken later."""
    given, taken = prompts(4, 5, 6), []
    steps = opened(4)
    found, _ = texts(steps, given, 4, told=lambda step, prompt: taken.append(step))
    assert found == [alone(tuple(prompt), 4) for prompt in given]
    assert (len(taken[-1].texts), taken[-1].rows) == (3, 4)
    keys = [text.context + 1 for text in taken[-1].texts]
    assert keys == [7, 8, 9]
    single = quantized().step([taken[-1].texts[0]], steps._layout)
    assert taken[-1].bytes == single.least_bytes(taken[-1].texts)


def test_sixteen_texts_share_a_step():
    given = prompts(*(1 + number % 4 for number in range(17)))
    steps, taken = opened(16, "base", context=20), []
    found, _ = texts(steps, given, 3, told=lambda step, prompt: taken.append(step))
    assert found == [alone(tuple(prompt), 3) for prompt in given]
    assert max(len(step.texts) for step in taken) == ROWS


@pytest.mark.parametrize("context", [6, 15])
def test_texts_whose_keys_are_one_tile_have_masks_of_their_own(context):
    """Of equal and of different lengths: what sets a mask is not shared."""
    given = prompts(2, 2, 4)
    found, _ = texts(opened(2, context=context), given, 3)
    assert found == [alone(tuple(prompt), 3) for prompt in given]


def test_programs_are_compiled_once_for_numbers_of_texts():
    steps = opened(4)
    steps._programs = {}
    texts(steps, prompts(4, 4, 4, 4, 4), 3)
    assert sorted(steps._programs) == [(1, 1, 0), (1, 4, 0), (4, 1, 0)]


def test_rtl_computes_the_same():
    given = prompts(3, 2, 4)
    steps, taken = opened(2, "tiny", "verilator", context=6), []
    found, _ = texts(steps, given, 2, told=lambda step, prompt: taken.append(step))
    assert found == [alone(tuple(prompt), 2) for prompt in given]
    assert all(step.cycles for step in taken)


def test_slots_are_a_number_of_rows():
    for slots in (0, 3, 32):
        with pytest.raises(ValueError, match=rf"slots: {slots} is no power of two in 1\.\.16"):
            Steps(opened(1).device, quantized(), 4, slots)


def test_a_text_in_another_slot_leaves_the_first_alone():
    steps = opened(2)
    one, other = SlotText(steps, 0), SlotText(steps, 1)
    logits, _ = one.append(tokens(5))
    other.append(tokens(30, 7))
    assert other.place == Place(1, 30)
    one.go_back(0)
    again, _ = one.append(tokens(5))
    assert np.array_equal(again, logits)
