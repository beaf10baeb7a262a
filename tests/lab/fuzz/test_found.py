"""Fuzzing finds what is planted in the RTL, and shows it as a program."""

import subprocess
import sys

import pytest

from celosia.lab.mutate.planted import load_faults
from celosia.lab.mutate.trial import environment, faulty_copy
from celosia.sim.support.checkout import checkout_root
from celosia.sw.driver.program_file import load_program

FAULTS = {fault.name: fault for fault in load_faults(checkout_root())}


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["issue_hazards", "compute_requantizer"])
def test_a_planted_fault_is_found_and_made_small(name, tmp_path):
    with faulty_copy(FAULTS[name], checkout_root()) as tree:
        command = [sys.executable, "-m", "celosia.sim.cli", "fuzz", "--out", str(tmp_path)]
        done = subprocess.run(
            [*command, "--seconds", "120", "--jobs", "2"],
            cwd=tree,
            env=environment(tree),
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 1, done.stdout + done.stderr
    sizes = [len(load_program(found).commands) for found in tmp_path.glob("fuzz-tiny-*.cel")]
    assert sizes
    assert min(sizes) < 80, "none was made small"
