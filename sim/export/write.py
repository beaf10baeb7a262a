"""Writes a design and what belongs to it."""

from pathlib import Path

from celosia.isa.config import AcceleratorConfig
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.description import describe_design
from celosia.sim.export.design import Design, export_design
from celosia.sim.export.files import companions, stands_alone, write_files
from celosia.sim.support.output import write_file

__all__ = ["design_files", "write_verilog"]


def write_verilog(
    config: AcceleratorConfig, top: TopChoice, memories: Memories, output: str
) -> None:
    """Write the Verilog of `config` to `output`, with its file list and description beside it.

    Where nothing can be beside `output` (standard output, a pipe), the Verilog is all that is
    written, with the models of black boxes behind it.
    """
    design = export_design(config, top, memories)
    if stands_alone(output):
        write_file(output, design.verilog + design.models)
    else:
        write_files(design_files(design, output, memories))


def design_files(design: Design, output: str, memories: Memories) -> dict[Path, str]:
    """The texts of all files of `design`."""
    verilog, others = Path(output), companions(output, memories)
    texts = {verilog: design.verilog}
    if "models" in others:
        texts[others["models"]] = design.models
    listing = "".join(f"{path.name}\n" for path in texts)
    names = {kind: path.name for kind, path in others.items()}
    return texts | {
        others["listing"]: listing,
        others["page"]: describe_design(design, verilog.name, names),
    }
