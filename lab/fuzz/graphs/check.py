"""Whether a random graph means the same on every level, down to a device."""

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE
from celosia.lab.fuzz.graphs.levels import LevelsDifferError, check_device, check_levels
from celosia.sim.devices.devices import open_device
from celosia.sw.driver.device import DeviceError
from celosia.sw.models.cases import Case

__all__ = ["graph_difference"]


def graph_difference(case: Case, config: AcceleratorConfig, simulator: str) -> tuple[int, str]:
    """The commands of the compiled graph, and where levels differ; an empty text if nowhere.

    `simulator` runs the commands besides the functional model, unless it is ``functional``.
    """
    commands = 0
    try:
        compiled = check_levels(case, config)
        commands = len(compiled.program)
        if simulator != "functional":
            device = open_device(simulator, config, memory_bytes=compiled.end - MEMORY_BASE)
            try:
                check_device(case, device, compiled)
            finally:
                device.close()
    except (LevelsDifferError, DeviceError) as error:
        return commands, str(error)
    except Exception as error:  # A graph that the interpreter takes must compile.
        return commands, f"{type(error).__name__}: {error}"
    return commands, ""
