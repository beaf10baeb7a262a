"""What is checked of a design without a table of energies."""

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.isa.config import AcceleratorConfig
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.checks.flat import FlatCheck, compare_flat
from celosia.sim.export.silicon.checks.glitches import Glitches, measure_glitches
from celosia.sim.export.silicon.power.recording import write_design
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.progress import Progress, share

__all__ = ["Checks", "check"]


@dataclass(frozen=True)
class Checks:
    """What was found of what was asked for."""

    flat: FlatCheck | None
    glitches: Sequence[Glitches]


def check(
    config: AcceleratorConfig,
    tools: tuple[Yosys, CellLibrary],
    at_once: int,
    tell: Progress,
    *,
    whole: bool,
    glitches: bool,
) -> Checks:
    """Check the sum over units of `config` (`whole`), and what glitches add.

    Raises what `compare_flat` and `measure_glitches` raise.
    """
    tell("writing the Verilog", None)
    design = write_design(config)
    middle = 0.8 if whole and glitches else float(whole)
    flat = compare_flat(design, tools, at_once, share(tell, 0, middle)) if whole else None
    ending = share(tell, middle, 1)
    return Checks(flat, measure_glitches(design, tools, at_once, ending) if glitches else ())
