"""The types of the weights of a graph's products, and which keep int8 because of their inputs."""

from collections import defaultdict

from celosia.isa.encoding import WeightType
from celosia.sw.frontend.nn.operators.operator import expect
from celosia.sw.quantize.units.names import product_names
from celosia.sw.quantize.units.segments import Segments
from celosia.sw.quantize.units.units import Product
from celosia.sw.quantize.weight_types import WeightTypes

__all__ = ["weight_kinds"]


def weight_kinds(
    segments: Segments, types: WeightTypes
) -> tuple[dict[str, WeightType], tuple[str, ...]]:
    """The type of each product, by the tensor that it computes, and what is to be said of them.

    Raises `GraphError` that names a product of odd inputs, unless `types` let it keep int8.
    """
    names = product_names(segments.units, segments.graph)
    outputs = {*segments.graph.outputs.values()}
    found: dict[str, WeightType] = {}
    kept = defaultdict[int, list[str]](list)
    for unit in segments.units.of(Product):
        tensor, inputs = unit.value.tensor, len(unit.linear.weights)
        last = tensor in outputs
        kind = found[tensor] = types.of(inputs, last=last)
        if kind is not types.asked(last=last):
            kept[inputs].append(names[tensor])
        expect(
            inputs % kind.per_byte == 0,
            f"{names[tensor]}: {inputs} inputs are odd, but weights of {kind.name.lower()} are "
            "packed in pairs",
        )
    notes = (
        f"{', '.join(products)}: weights stay int8: {inputs} inputs are no multiple of "
        f"{types.lines}, the lines of a tile of int4"
        for inputs, products in kept.items()
    )
    return found, (*notes,)
