"""Areas of modules become areas of units."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.export import design
from celosia.sim.export.silicon.area.measure import (
    UnitArea,
    lean_parameter,
    measure_area,
    sum_up,
)
from celosia.sim.export.silicon.area.units import REST
from celosia.sim.export.silicon.synthesis.mapping import Mapper, Netlist
from celosia.sim.export.silicon.synthesis.modules import VerilogModule, split_modules
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.progress import silent
from tests.support.areas import FULL, PARAMETERS, QUEUE, SCRATCHPAD
from tests.support.cells import LIBRARY
from tests.support.exports import exported

MODULES = {
    "core": VerilogModule("core", "", [("accelerator", "core.accelerator")]),
    "core.accelerator": VerilogModule(
        "core.accelerator", "", [("decoder", "shared"), ("loops", "shared"), ("ram", "celosia_ram")]
    ),
    "shared": VerilogModule("shared", "", []),
}
NETLISTS = {
    "core": Netlist({}, 0),
    "core.accelerator": Netlist({"NAND2": 1}, 0),
    "shared": Netlist({"INV": 2, "DFF": 3}, 1),
}


def test_each_instance_counts_in_its_unit():
    shared = UnitArea(64.0, 16.0, 3)
    assert sum_up("core", MODULES, NETLISTS, LIBRARY) == {
        "decoder": shared,
        "loops": shared,
        REST: UnitArea(4.0, 1.0, 0),
    }


def test_sums():
    assert FULL.logic == UnitArea(18000.0, 4500.0, 170)
    assert list(FULL.small) == [QUEUE]
    assert FULL.latch_gates == 4 * QUEUE.bits == 1000
    assert FULL.bits == SCRATCHPAD.bits + PARAMETERS.bits + QUEUE.bits == 90_250
    assert FULL.gates_with_sram() == 4500 + 1.5 * 90_250
    assert FULL.gates_with_sram(copies=True) == 4500 + 1.5 * (90_250 + 2 * PARAMETERS.bits)
    assert FULL.gates_counted() == 4500 + 1000 + 1.5 * 90_000
    assert FULL.gates_counted(copies=True) == 4500 + 1000 + 1.5 * 110_000


@pytest.mark.parametrize(
    ("preset", "parameter"), [("base", "normalization"), ("gemmini", "bert"), ("small", None)]
)
def test_what_a_lean_design_lacks(preset, parameter):
    assert lean_parameter(resolve_config(preset)) == parameter


def test_a_configuration_is_exported_and_mapped(monkeypatch):
    """The mapper is given the design with black boxes; each of its modules is counted once."""
    monkeypatch.setattr(design, "export_design", lambda _, top, memories: exported(top, memories))

    class OneGateEach(Mapper):
        def map_design(self, verilog, models, tell):
            assert "module celosia_ram_3r1w" in models
            modules = split_modules(verilog)
            return modules, dict.fromkeys(modules, Netlist({"NAND2": 1}, 0))

    config = resolve_config("tiny")
    area = measure_area(config, OneGateEach(Yosys((), ""), LIBRARY), silent)
    assert area.config == config
    assert area.units["mesh"] == UnitArea(4.0, 1.0, 0)
    assert area.logic.gates > 80
    assert any(memory.box for memory in area.memories)
