"""The AXI top under cocotb, with the memory and the host of cocotbext-axi."""

import pytest

from celosia.sim.doctor import absence
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.design import export_design
from tests.cocotb.configuration import CONFIG, MODULE

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
    from tests.cocotb.simulate import run_cases

    verilog = export_design(CONFIG, TopChoice.AXI, Memories.INFERRED).verilog
    for name in run_cases(simulator, verilog, MODULE, "tests.cocotb.cases", tmp_path):
        print(f"{simulator}: {name} passed")
