"""The text whose numbers come out of a document."""

import json
from pathlib import Path

import pytest

from celosia.lab.survey.parts import text
from celosia.lab.survey.parts.text import COMMITTED, fill
from celosia.lab.survey.parts.values import Item, Scope, Value
from celosia.lab.survey.survey import Survey, study_ids
from celosia.sim.reporting.run_file import read_report
from celosia.sim.support.problems import InputError

ROOT = Path(__file__).parents[4]


def test_the_committed_survey_is_one():
    document = read_report(str(ROOT / COMMITTED), "survey")
    assert [item["id"] for item in document["items"]] == list(study_ids())


def test_a_text_has_its_numbers_from_the_document():
    values = [{"name": "a b", "ours": 1234.5, "paper": 0.31234}, {"name": "c", "ours": None}]
    document = {"items": [{"id": "tab", "values": values}]}
    pattern = "{{tab: a b}}, {{paper tab: a b}}, {{tab: a b | ,.1f}}"
    assert fill(pattern, document) == "1,234, 0.3123, 1,234.5"
    for wrong in ("{{tab: c}}", "{{tab: d}}", "{{other: a b}}", "{{paper tab: c}}"):
        with pytest.raises(InputError, match="there is no such number"):
            fill(wrong, document)


def test_lines_are_wrapped_again(tmp_path, monkeypatch):
    template = tmp_path / "text.md"
    template.write_text("# Head\n\nOne\n{{tab3: n}}. two.\n\n1. A\n   b\n2. " + 40 * "word " + "\n")
    monkeypatch.setattr(text, "_TEXT", template)
    value = Value(name="n", ours=3, kind="arithmetic")
    found = Survey((Item(id="tab3", title="", where="", values=(value,)),), Scope())
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / COMMITTED).write_text(json.dumps(found.document()))
    lines = text.survey_text(tmp_path).splitlines()
    assert lines[:6] == ["# Head", "", "One 3. two.", "", "1. A b", "2. " + "word " * 22 + "word"]
    assert lines[6].startswith("   word")
