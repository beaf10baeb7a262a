"""Each command of the tutorial, in order, on a copy of the tree."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAYERS = ("isa", "hw", "sw", "sim", "lab")
TUTORIAL = (ROOT / "docs" / "tutorial.md").read_text()

BLOCKS = re.findall(r"^```sh\n(.*?)^```$", TUTORIAL, re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines()]


def test_it_has_commands():
    assert sum(line.startswith("celosia run ") for line in COMMANDS) == 5
    known = ("celosia ", "sed -i ", "git checkout ", "rm -r ")
    assert all(line.startswith(known) for line in COMMANDS)


def test_what_it_writes_it_removes():
    """Nothing that is untracked stays behind in a checkout."""
    text = "\n".join(COMMANDS)
    written = set(re.findall(r"(?:--report|--trace|-o) (\S+)", text))
    (removal,) = (line for line in COMMANDS if line.startswith("rm -r "))
    assert written == set(removal.split()[2:])
    assert COMMANDS[-1] == removal


def test_files_that_it_names_are_there():
    for link in re.findall(r"\]\(([^)#]+)\)", TUTORIAL):
        assert link.startswith("https:") or (ROOT / "docs" / link).exists(), link


@pytest.fixture
def copy(tmp_path, monkeypatch) -> Path:
    """A tree of its own, whose `celosia` is first on PATH."""
    for layer in LAYERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / layer, tmp_path / layer, ignore=ignored)
    packages = tmp_path / "packages" / "celosia"
    packages.mkdir(parents=True)
    for layer in LAYERS:
        (packages / layer).symlink_to(tmp_path / layer)
    script = tmp_path / "bin" / "celosia"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m celosia.sim.cli "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PYTHONPATH", str(packages.parent))
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    for words in ("init -q", "add hw sw", "-c user.name=a -c user.email=a@b commit -qm copy"):
        subprocess.run(["git", *words.split()], cwd=tmp_path, check=True)
    return tmp_path


@pytest.mark.slow
def test_each_command_does_what_the_text_says(copy):
    outputs, found = {}, sorted(os.listdir(copy))
    for command in COMMANDS:
        if command.startswith("rm "):
            for folder in ("before", "late", "late-compared", "bubble", "bubble-compared", "after"):
                assert (copy / folder / "index.html").exists()
            assert (copy / "run.pftrace.gz").exists()
        done = subprocess.run(
            command, shell=True, cwd=copy, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        outputs[command] = done.stdout
    for name in ("sw/compiler/refine.py", "hw/execute/rows.py"):
        assert (copy / name).read_text() == (ROOT / name).read_text(), f"{name} is not restored"
    compared = [text for command, text in outputs.items() if "compare" in command]
    assert re.search(r"load .*\+\d+", compared[0])
    assert re.search(r"weights .*\+9\d ", compared[1])
    assert "+0.00 %" in compared[2]
    assert "lost" in next(text for command, text in outputs.items() if " top " in command)
    assert sorted(os.listdir(copy)) == found
