"""Areas that nobody measured."""

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.area.measure import Area, UnitArea
from celosia.sim.export.silicon.area.memories import DesignMemory

SCRATCHPAD = DesignMemory("accelerator.scratchpad.bank_0", 1000, 80, 1)
PARAMETERS = DesignMemory("accelerator.parameters.rows", 100, 100, 3)
QUEUE = DesignMemory("accelerator.store.unit.rows.memory", 10, 25, 0)

LEAN = Area(
    resolve_config("tiny", ["normalization=false"]),
    {"mesh": UnitArea(8000.0, 2000.0, 100), "decoder": UnitArea(4000.0, 1000.0, 50)},
    [SCRATCHPAD],
)
FULL = Area(
    resolve_config("tiny"),
    {
        "mesh": UnitArea(8000.0, 2000.0, 100),
        "decoder": UnitArea(4800.0, 1200.0, 60),
        "lanes: sums": UnitArea(5200.0, 1300.0, 10),
    },
    [SCRATCHPAD, PARAMETERS, QUEUE],
)
