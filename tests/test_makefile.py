"""What `make` says while it installs."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path):
    """A copy of what `make venv` reads, and an interpreter that does nothing."""
    for name in ("Makefile", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nmkdir -p .venv\n")
    python.chmod(0o755)
    return tmp_path


def make_venv(checkout, pip):
    words = ["make", "venv", "PYTHON=./python", "BEAT=1", f"PIP={pip}"]
    return subprocess.run(words, cwd=checkout, capture_output=True, text=True, check=False)


def test_an_installation_that_takes_long_shows_that_it_goes_on(checkout):
    done = make_venv(checkout, "sleep 1.5; true")
    assert done.returncode == 0, done.stderr
    assert "  1 s so far; .venv has " in done.stdout
    assert len(list((checkout / ".venv").glob(".ready-*"))) == 1


def test_an_installation_that_fails_is_a_failure(checkout):
    assert make_venv(checkout, "false").returncode != 0
    assert not list((checkout / ".venv").glob(".ready-*"))
