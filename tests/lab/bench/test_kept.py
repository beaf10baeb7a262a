"""Tables of lines that are kept: only what is missing is measured."""

import json
import sys
from dataclasses import dataclass

import pytest

from celosia.lab.bench.kept import KeptCase, kept_lines, show_kept
from celosia.sim.support.problems import InputError


@dataclass(frozen=True)
class Weighed(KeptCase):
    """A case that is found to be ten times its weight."""

    name: str
    weight: int

    @property
    def effort(self):
        return self.weight

    def measured(self):
        return {"found": 10 * self.weight}


CASES = [Weighed("c", 3), Weighed("a", 1), Weighed("d", 4)]


def test_what_is_missing_is_measured_in_order_of_its_effort_and_dear_cases_are_left(tmp_path):
    path, told = tmp_path / "lines.jsonl", []
    lines, left = kept_lines(path, CASES, 3, told.append)
    assert [line["found"] for line in lines] == [10, 30]
    assert told == lines == [json.loads(line) for line in path.read_text().splitlines()]
    assert left == [Weighed("d", 4)]


def test_what_is_there_is_not_measured_again_and_stays_as_it_is(tmp_path):
    path, told = tmp_path / "lines.jsonl", []
    path.write_text('{"name": "c", "weight": 3, "found": 7}\n')
    lines, left = kept_lines(path, CASES, 10, told.append)
    assert [line["found"] for line in lines] == [7, 10, 40]
    assert [line["found"] for line in told] == [10, 40]
    assert left == []
    assert path.read_text().startswith('{"name": "c", "weight": 3, "found": 7}\n{')


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("nonsense\n", "lines of JSON objects"),
        ("3\n", "lines of JSON objects"),
        ('{"name": "a", "weight": 1}\n{"name": "a", "weight": 2}\n', "line 2: it is about no case"),
    ],
)
def test_another_file_is_refused_and_stays(tmp_path, text, reason):
    path = tmp_path / "lines.jsonl"
    path.write_text(text)
    with pytest.raises(InputError, match=reason):
        kept_lines(path, CASES, 10, print)
    assert path.read_text() == text


def shown(monkeypatch, tmp_path, *arguments):
    monkeypatch.setattr(sys, "argv", ["script.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        show_kept(
            str(tmp_path / "script.py"),
            CASES,
            lambda line: f"{line['name']} {line['found']}",
            lambda lines: (f"{line['name']}: {line['found']}" for line in lines),
            3,
            "pounds",
        )
    return ended.value.code


def test_a_script_tells_each_line_then_all_and_what_is_left(monkeypatch, tmp_path, capsys):
    assert shown(monkeypatch, tmp_path) == 0
    assert capsys.readouterr().out.splitlines() == [
        *("a 10", "c 30", "a: 10", "c: 30", "1 of 3 cases left: 4 pounds")
    ]
    assert shown(monkeypatch, tmp_path, str(tmp_path / "script.jsonl"), "4") == 0
    assert capsys.readouterr().out.splitlines() == ["d 40", "a: 10", "c: 30", "d: 40"]


@pytest.mark.parametrize("arguments", [["x.jsonl", "many"], ["x.jsonl", "-1"], ["no/folder/x"]])
def test_a_wrong_command_line_is_a_sentence(monkeypatch, tmp_path, capsys, arguments):
    monkeypatch.chdir(tmp_path)
    assert shown(monkeypatch, tmp_path, *arguments) == 2
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    assert captured.err
    assert not captured.out
