"""What the report of one text says of it."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.sim.command.models import written_text
from celosia.sim.command.models.written_text import WrittenText


@pytest.mark.parametrize(
    ("elements", "failed", "status"),
    [
        (5, False, "right"),
        (5, True, "wrong"),
        (0, False, "unchecked"),
        (0, True, "wrong"),
        (None, False, "unchecked"),
    ],
)
def test_a_text_is_right_only_where_something_was_compared(elements, failed, status, monkeypatch):
    kept: list[Any] = []
    monkeypatch.setattr(written_text, "write_document", lambda *said: kept.append(said))
    text: Any = SimpleNamespace(
        prompt="once",
        model=SimpleNamespace(begins=[[1, 2]]),
        sampler="greedy",
        drafts=SimpleNamespace(most=0, names=()),
        json="text.json",
        _pieces=[" upon", " a"],
        _tokens=[3, 4],
    )
    counted: Any = SimpleNamespace(checked=SimpleNamespace(elements=elements), taken=["a step"])
    setting: Any = "a setting"
    WrittenText._report(text, None if elements is None else counted, setting, failed=failed)
    ((path, report),) = kept
    assert (path, report.status) == ("text.json", status)
    assert (report.text, report.prompt_tokens, report.tokens) == (" upon a", [1, 2], [3, 4])
    assert report.elements_checked == (elements or 0)
    assert report.steps == ([] if elements is None else ["a step"])
