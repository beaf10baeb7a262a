"""A folder in which the lines of a page run, one after the other."""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from celosia.sim.cli import app
from tests.test_references import ROOT

COLUMNS = 120
"""The terminal's width, which is that of what pages show."""

_OF_CHECKOUT = ("docs", "examples")


@dataclass(frozen=True)
class Answer:
    """What a line ended with: its exit code, and all that it printed."""

    code: int
    text: str


class Shell:
    """Runs lines in `folder`, beside what they find in a checkout."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        scripts = folder / "bin"
        scripts.mkdir()
        for name, module in (("celosia", "-m celosia.sim.cli "), ("python", "")):
            script = scripts / name
            script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module}"$@"\n')
            script.chmod(0o755)
        self.folder = folder / "page"
        self.folder.mkdir()
        for name in _OF_CHECKOUT:
            (self.folder / name).symlink_to(ROOT / name)
        monkeypatch.setenv("PATH", f"{scripts}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("COLUMNS", str(COLUMNS))
        monkeypatch.chdir(self.folder)

    def type(self, line: str) -> Answer:
        """As a reader does: in a shell, with a process for each command."""
        done = subprocess.run(
            ["bash", "-c", line],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return Answer(done.returncode, done.stdout)

    def call(self, command: str) -> Answer:
        """One command of Celosia in this process, which is a second faster."""
        done = CliRunner().invoke(app, shlex.split(command)[1:])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return Answer(done.exit_code, done.output)

    def made(self) -> set[str]:
        """The names of what lines have written."""
        return {each.name for each in self.folder.iterdir()} - set(_OF_CHECKOUT)


def names(line: str, file: str) -> bool:
    """Whether `line` has `file` as a word, or as a part of one behind `=`."""
    return re.search(rf"(?<![\w./-]){re.escape(file)}(?![\w./-])", line) is not None
