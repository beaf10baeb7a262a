"""The types of the weights of a graph's products."""

from celosia.isa.encoding import WeightType
from celosia.sw.quantize.units.segments import Segments
from celosia.sw.quantize.units.units import Product
from celosia.sw.quantize.weight_types import WeightTypes

__all__ = ["weight_kinds"]


def weight_kinds(segments: Segments, types: WeightTypes) -> dict[str, WeightType]:
    """The type of each product, by the tensor that it computes."""
    outputs = {*segments.graph.outputs.values()}
    products = [unit.value.tensor for unit in segments.units.of(Product)]
    return {tensor: types.of(last=tensor in outputs) for tensor in products}
