"""Each command of the tutorial about ONNX files, in order, in a folder of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TUTORIAL = (ROOT / "docs" / "onnx-tutorial.md").read_text()
BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]


def test_it_has_commands_and_removes_what_they_write():
    assert len(COMMANDS) == 10
    written = {line.split()[-1] for line in COMMANDS if "write.py" in line}
    assert set(COMMANDS[-1].removeprefix("rm -r ").split()) == written


def test_files_that_it_names_are_there():
    for link in re.findall(r"\]\(([^)#]+)\)", TUTORIAL):
        assert (ROOT / "docs" / link).exists(), link


@pytest.mark.slow
def test_each_command_does_what_the_text_says(tmp_path, monkeypatch):
    scripts = tmp_path / "bin"
    scripts.mkdir()
    for name, module in (("celosia", "-m celosia.sim.cli "), ("python", "")):
        script = scripts / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {module}"$@"\n')
        script.chmod(0o755)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.setenv("PATH", f"{scripts}{os.pathsep}{os.environ['PATH']}")
    outputs = {}
    for command in COMMANDS:
        done = subprocess.run(
            command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        outputs[command] = " ".join(done.stdout.split())
        if "--report" in command:
            assert (tmp_path / "bert" / "report").is_dir()
    runs = [text for command, text in outputs.items() if command.startswith("celosia run ")]
    assert len(runs) == 3
    for text in runs:
        assert re.search(r"\b0 of [\d,]+ elements in 1 segment differ", text)
        assert "100.00% of the" in text
    called = next(text for command, text in outputs.items() if "call.py" in command)
    assert re.search(r"\d{6} cycles, 0 of \d+ wrong", called)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["bin", "examples"]
