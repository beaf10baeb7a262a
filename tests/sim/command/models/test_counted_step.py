"""What a step counts in a report: tokens are those of its texts, rows are more."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.sim.command.models.counted_step import CountedStep
from celosia.sw.decoding.steps import Step
from celosia.sw.decoding.texts import Text


def result(cycles: int | None) -> Any:
    return SimpleNamespace(cycles=cycles)


@pytest.mark.parametrize(("cycles", "total"), [((3, 4), 7), ((3, None), None), ((), 0)])
def test_a_step_of_several_texts(cycles, total):
    step = Step((Text(5, 3), Text(9, 1)), 16, tuple(map(result, cycles)), 800)
    found = CountedStep(step, prompt=True)
    assert (found.rows, found.tokens, found.bytes, found.prompt) == (16, 4, 800, True)
    assert found.cycles == total
