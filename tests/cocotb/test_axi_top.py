"""The AXI top under cocotb, with the memory and the host of cocotbext-axi."""

from importlib import import_module

import pytest

from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.design import export_design
from celosia.sim.verilator.doctor import absence
from tests.cocotb.configuration import CONFIG

NEEDS = {
    "icarus": ("cocotb", "iverilog"),
    "verilator": ("cocotb", "verilator", "perl", "g++"),
}
"""Under the names of `celosia doctor`."""


@pytest.mark.slow
@pytest.mark.parametrize("simulator", NEEDS)
def test_every_case_passes(simulator, tmp_path):
    for tool in NEEDS[simulator]:
        if missing := absence(tool):
            pytest.skip(missing)
    run_cases = import_module("tests.cocotb.simulate").run_cases  # It needs cocotb.
    design = export_design(CONFIG, TopChoice.AXI, Memories.INFERRED)
    for name in run_cases(simulator, design, "tests.cocotb.cases", tmp_path):
        print(f"{simulator}: {name} passed")
