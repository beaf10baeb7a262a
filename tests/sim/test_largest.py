"""The largest files of others that the command line reads: each number stands here, and once there.

A test that imports a bound from the code it tests holds with any bound.
"""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from celosia.sim.command.assembly_commands import disasm
from celosia.sim.command.models.prompts import given_prompts
from celosia.sim.command.models.text_model import tokens_of
from celosia.sim.export.silicon.cells import sky130
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.energy.table import load_table
from celosia.sim.export.silicon.timing.bounds import load_bounds
from celosia.sim.reporting.run_file import read_run
from celosia.sim.run.options import given_plans
from celosia.sim.workloads.models.precision_file import read_precision
from celosia.sim.workloads.operands import load_array
from tests.support.largest import larger_file, readers_of_files

MIB = 1 << 20
ANY: Any = SimpleNamespace(encode=list)

FILES: dict[str, list[tuple[Callable[[Path], object], int]]] = {
    "sim/command/assembly_commands.py": [(lambda path: disasm(str(path)), 1024 * MIB)],
    "sim/command/models/prompts.py": [(lambda path: given_prompts(None, path), 16 * MIB)],
    "sim/command/models/text_model.py": [(lambda path: tokens_of("--text", path, ANY), 64 * MIB)],
    "sim/export/silicon/cells/library.py": [
        (lambda path: choose_library(str(path.rename(path.with_suffix(".lib")))), 256 * MIB)
    ],
    "sim/export/silicon/cells/sky130.py": [(sky130._cell, MIB)],
    "sim/export/silicon/energy/table.py": [(lambda path: load_table(str(path)), MIB)],
    "sim/export/silicon/timing/bounds.py": [(lambda path: load_bounds(str(path), "base"), MIB)],
    "sim/reporting/run_file.py": [(lambda path: read_run(str(path)), 256 * MIB)],
    "sim/run/options/given_plans.py": [
        (lambda path: given_plans._read_plans(str(path)), 2 * MIB),
        (lambda path: given_plans._read_schedule(str(path)), 2 * MIB),
    ],
    "sim/workloads/models/precision_file.py": [(read_precision, MIB)],
    "sim/workloads/operands.py": [
        (lambda path: load_array("--a", path, (np.int8,), 2), 1025 * MIB)
    ],
}
"""What opens files that somebody else wrote: who reads, the most bytes."""

OTHERS = {"sim/support/cache.py", "sim/support/output.py"}
"""What reads files of its own, and what others read by."""


@pytest.mark.parametrize("file", FILES)
def test_a_larger_file_is_refused_with_the_most_that_it_may_have(file, tmp_path):
    for number, (reader, most) in enumerate(FILES[file]):
        path, message = larger_file(tmp_path / str(number), most)
        with pytest.raises(ValueError, match=message):
            reader(path)


def test_each_reader_of_files_is_listed():
    assert readers_of_files("sim") - OTHERS == FILES.keys()
