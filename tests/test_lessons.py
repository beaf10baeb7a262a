"""Each command of the lessons, in order."""

import re
import shlex
from pathlib import Path

import pytest

from tests.support.command_line import right

FOLDER = Path(__file__).parents[1] / "docs" / "lessons"
LESSONS = sorted(FOLDER.glob("*.md"))


def commands(lesson):
    blocks = re.findall(r"^```sh\n(.*?)^```$", lesson.read_text(), re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_a_lesson_has_commands_and_names_files_that_are_there(lesson):
    assert len(commands(lesson)) >= 4
    for link in re.findall(r"\]\(([^)#]+)\)", lesson.read_text()):
        assert link.startswith("https:") or (FOLDER / link).exists(), link
    for name in re.findall(r"`((?:sw|sim|tests)/[\w/.]+)`", lesson.read_text()):
        assert (FOLDER.parents[1] / name).exists(), name


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_each_command_of_a_lesson_does_what_it_says(lesson, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for program, *words in commands(lesson):
        if program == "rm":
            assert sorted(words) == sorted(path.name for path in tmp_path.iterdir())
            continue
        assert program == "celosia"
        output = right(*words).output
        if "--interpret" in words:
            assert output.count("it means the same") == len(
                words[words.index("--passes") + 1].split(",")
            )
