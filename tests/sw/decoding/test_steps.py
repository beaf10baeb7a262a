"""What a step is: its rows, its cycles, and how tokens are cut into steps."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.devices.devices import open_device
from celosia.sw.decoding.steps import BUCKET, ROWS, Step, Steps, step_rows
from celosia.sw.decoding.texts import Text
from tests.sw.models.decoder_runs import MEMORY, model


def test_a_step_has_a_power_of_two_rows_that_hold_its_tokens_up_to_16():
    assert [step_rows(tokens) for tokens in range(1, 18)] == [1, 2, 4, 4, *[8] * 4, *[16] * 9]
    assert step_rows(1000) == ROWS == 16


@pytest.mark.parametrize(
    ("cycles", "total"),
    [((7,), 7), ((7, 5), 12), ((None,), None), ((None, 5), None), ((5, None), None), ((), 0)],
)
def test_cycles_are_those_of_all_programs_if_all_have_a_clock(cycles, total):
    results: Any = tuple(SimpleNamespace(cycles=each) for each in cycles)
    assert Step((Text(3),), 1, results, 0).cycles == total


def test_a_step_of_several_texts_is_none_of_one():
    assert Step((Text(3),), 1, (), 0).text == Text(3)
    with pytest.raises(ValueError, match="too many values"):
        _ = Step((Text(3), Text(4)), 2, (), 0).text


@pytest.mark.parametrize("rings", [(), ("a ring",)])
@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 50, 63, 64, 65, 1000])
@pytest.mark.parametrize("count", [0, 1, 16, 17, 40])
def test_tokens_are_cut_into_steps_none_of_which_goes_on_at_a_rings_other_end(rings, length, count):
    """Rings have a multiple of a bucket's places: a step that ends a bucket may end a ring."""
    steps: Any = SimpleNamespace(rings=rings)
    tokens = range(100, 100 + count)
    pieces = [*Steps.pieces(steps, length, tokens)]
    assert [token for piece in pieces for token in piece] == [*tokens]
    assert all(1 <= len(piece) <= ROWS for piece in pieces)
    place = length
    for piece in pieces:
        if rings:
            assert place // BUCKET == (place + len(piece) - 1) // BUCKET
        place += len(piece)
    # As few steps as there may be: each but the last is full, or ends its bucket.
    ends = [length + sum(map(len, pieces[: number + 1])) for number in range(len(pieces) - 1)]
    for piece, end in zip(pieces, ends, strict=False):
        assert len(piece) == ROWS or (rings and end % BUCKET == 0)


def test_loads_of_a_step_come_by_what_is_needed_soonest():
    """A step reads each weight once: it is as long as memory takes, if that never waits."""
    device = open_device("functional", resolve_config("tiny"), MemoryTiming(), MEMORY)
    try:
        programs = Steps(device, model(layers=1).decoder, 24).programs(1, 1, 5)
    finally:
        device.close()
    assert [bucket.compiled.plan.scheduler for bucket in programs.buckets] == ["need"]
