"""Where each node of an imported model runs, by the units that were found in it."""

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.placement.placement import Placement, place
from celosia.sw.frontend.placement.rules import Decision, Where, placed
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.recognize import Recognized
from celosia.sw.quantize.graphs.units import Units

__all__ = ["place_units"]


def place_units(imported: FloatGraph, recognized: Recognized, units: Units) -> Placement:
    """The placement of a model whose recognized graph has these `units`."""
    nodes = units.nodes
    decisions: dict[str, Decision] = {}
    for name, (where, reason) in placed(Reader(recognized.graph)).items():
        if name in nodes:
            decisions[name] = (Where.ACCELERATOR, "" if where == Where.HOST else reason)
        elif where == Where.ACCELERATOR:
            why = units.refusals.get(name, "it is not part of a product")
            decisions[name] = (Where.HOST, why)
    return place(imported, recognized, decisions)
