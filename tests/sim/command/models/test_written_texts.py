"""What is written of texts: from models and steps that are made up."""

from types import SimpleNamespace
from typing import Any

import pytest

from celosia.sim.command.models import written_texts
from celosia.sim.command.models.prompts import Prompt
from celosia.sim.command.models.written_text import TextSetting
from celosia.sim.command.models.written_texts import WrittenTexts
from celosia.sw.reference.language.sampling import Sampler

MODEL: Any = SimpleNamespace(
    begins=[[7, 1], [7, 2, 3]],
    tokenizer=SimpleNamespace(pieces=lambda tokens: (f"<{token}>" for token in tokens)),
)


@pytest.mark.parametrize(
    ("elements", "failed", "status"),
    [
        (12, False, "right"),
        (12, True, "wrong"),
        (0, False, "unchecked"),
        (None, False, "unchecked"),
    ],
)
def test_a_report_has_each_text_and_whether_it_was_compared(elements, failed, status, monkeypatch):
    written: list[Any] = []
    monkeypatch.setattr(written_texts, "write_document", lambda _, report: written.append(report))
    prompts = [Prompt("a", "--prompt"), Prompt("b c", "--prompt")]
    texts = WrittenTexts(model=MODEL, prompts=prompts, sampler=Sampler(), json=None, count=2)
    checked: Any = None if elements is None else SimpleNamespace(elements=elements)
    texts._report([[4, 5], []], checked, TextSetting(simulator="functional"), failed=failed)
    (report,) = written
    assert (report.status, report.elements_checked) == (status, elements or 0)
    found = [(each.prompt, each.prompt_tokens, each.text, each.tokens) for each in report.texts]
    assert found == [("a", [7, 1], "<4><5>", [4, 5]), ("b c", [7, 2, 3], "", [])]
