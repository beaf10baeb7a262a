"""What operations of the levels below graphs are called, and which records they are."""

from collections.abc import Mapping
from typing import Final

from celosia.sw.ir.print_program import KINDS
from celosia.sw.ir.program import Op
from celosia.sw.mlir.regions import Element, elements
from celosia.sw.models.lowering.commands import AssembledCommands
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.quantize.graphs.quantized import QuantizedGraph
from celosia.sw.quantize.units.segments import Segment

__all__ = ["DATAFLOW", "ELEMENTS", "OP_WORDS", "PROGRAM_OPS", "REGIONS"]

DATAFLOW: Final = ("inputs", "constants", "host", "segments", "outputs")
"""The fields of a model that are operations of dialect ``nn``, and segments."""

PROGRAM_OPS: Final = "cel.program."
"""What names of operations of programs begin with."""
OP_WORDS: Final[Mapping[type[Op], str]] = {kind: word for word, kind in KINDS.items()}
"""The rest of their names."""

REGIONS: Final[Mapping[str, tuple[type, tuple[str, ...]]]] = {
    "cel.model": (QuantizedGraph, DATAFLOW),
    "cel.segment": (Segment, ("graph",)),
    "cel.plan": (Plan, ()),
    "cel.commands": (AssembledCommands, ()),
}
"""Records with a region, and the fields that have operations of their own there."""

ELEMENTS: Final[Mapping[str, Element]] = {
    each: element
    for name, (kind, left_out) in REGIONS.items()
    for each, element in elements(kind, name, left_out).items()
}
"""What each operation of these regions is, that a field has become."""
