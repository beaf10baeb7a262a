"""What messages, tables and files call the products of a model."""

from collections import Counter

from celosia.sw.frontend.nn.graph import FloatGraph, split_origin
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.quantize.units.units import Product, Units

__all__ = ["product_names"]


def product_names(units: Units, graph: FloatGraph) -> dict[str, str]:
    """The name of each product of `graph`, by the tensor that it computes.

    It is that of the node of the file which multiplies; the tensor's, if there is no file, or if
    several products are of one node.
    """
    nodes = graph.producers()
    found = {}
    for unit in units.of(Product):
        parts = [nodes[name] for name in unit.nodes]
        multiplied = next((each for each in parts if OPERATORS[each.op].macs), parts[-1])
        found[unit.value.tensor] = split_origin(multiplied.origin)[0]
    counts = Counter(found.values())
    return {
        tensor: name if name and counts[name] == 1 else tensor for tensor, name in found.items()
    }
