"""The cocotb project of `examples/cocotb` runs as its README says."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from celosia.sim.verilator.doctor import absence

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_it_runs_with_its_own_makefile(tmp_path):
    for tool in ("cocotb", "iverilog"):
        if missing := absence(tool):
            pytest.skip(missing)
    project = tmp_path / "project"
    shutil.copytree(
        ROOT / "examples" / "cocotb",
        project,
        ignore=shutil.ignore_patterns("build", "sim_build", "results.xml", "__pycache__"),
    )
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    # Its make is not this one's.
    ours = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PYTHONPATH"}
    inherited = {name: value for name, value in os.environ.items() if name not in ours}
    done = subprocess.run(
        ["make", "-C", str(project)],
        env=inherited | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "PASS=1 FAIL=0" in done.stdout
