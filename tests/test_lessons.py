"""Each command of each lesson, in order."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LESSONS = sorted((ROOT / "docs" / "lessons").glob("*.md"))


def commands(lesson: Path) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", lesson.read_text(), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_it_has_commands_and_its_links_lead_somewhere(lesson):
    assert any(line.startswith("celosia ") for line in commands(lesson))
    for link in re.findall(r"\]\(([^)#]+)\)", lesson.read_text()):
        assert link.startswith("https:") or (lesson.parent / link).exists(), link


@pytest.mark.slow
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda path: path.stem)
def test_each_command_does_what_the_text_says(lesson, tmp_path, monkeypatch):
    script = tmp_path / "bin" / "celosia"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m celosia.sim.cli "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    folder = tmp_path / "lesson"
    folder.mkdir()
    for command in commands(lesson):
        done = subprocess.run(
            command, shell=True, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert not list(folder.iterdir()), "a lesson removes what it writes"
