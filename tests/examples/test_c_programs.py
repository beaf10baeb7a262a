"""The programs of `examples/c`, and their Makefile."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.c_host import c_host

EXAMPLES = Path(__file__).parents[2] / "examples" / "c"
PROGRAMS = ("move", "product", "convolution", "softmax")


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_example_is_right(name, tmp_path):
    host = c_host()
    program = host.compile(EXAMPLES / f"{name}.c", tmp_path / name)
    done = host.run(program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 of" in done.stdout


def test_every_program_is_in_the_makefile():
    sources = {path.stem for path in EXAMPLES.glob("*.c")}
    line = next(x for x in (EXAMPLES / "Makefile").read_text().splitlines() if "PROGRAMS :=" in x)
    assert set(line.split()[2:]) == sources == set(PROGRAMS)


def test_the_makefile_builds_and_runs_them(tmp_path):
    wrapper = tmp_path / "celosia"
    wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} -m celosia.sim.cli "$@"\n')
    wrapper.chmod(0o755)
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    words = ["make", "run", f"HOST={tmp_path / 'host'}"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    done = subprocess.run(
        words,
        cwd=EXAMPLES,
        env={**environment, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("0 of") == 5
