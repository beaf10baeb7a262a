"""Sums that no product finishes: of what units make, and of that and what is given or known."""

from math import prod
from typing import Final

from celosia.sw.frontend.nn.graph import Node
from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.operands import Operands
from celosia.sw.quantize.units.units import Addition
from celosia.sw.quantize.units.values import Value

__all__ = ["find_addition"]

_MOST_TEXTS: Final = 16
"""Texts to which the same rows are added, each by an operator of its own."""


def find_addition(operands: Operands, node: Node) -> Addition | None:
    """A sum of what a unit makes and of something else; None: the host makes all that is added."""
    reader = operands.reader
    for name, other in (node.inputs, node.inputs[::-1]) if node.type.rank > 1 else ():
        a = operands.made_rows(name) if reader.type(name) == node.type else None
        if a is None:
            continue
        if reader.value(other) is not None:
            b = _repeated(operands, other, node)
        else:
            b = operands.rows(other) if reader.type(other) == node.type else None
        if b is not None:
            return Addition(value=Value(node.name), a=a, b=b, nodes=(node.name,))
    return None


def _repeated(operands: Operands, name: str, node: Node) -> View | None:
    """A constant as the rows that a sum adds to each text; None: they are no such rows."""
    whole, shape = node.type.shape, operands.reader.type(name).shape
    shape = (1,) * (len(whole) - len(shape)) + shape
    texts = next((i for i, size in enumerate(shape) if size != 1), len(shape) - 1)
    few = prod(whole[:texts]) <= _MOST_TEXTS
    if not few or texts >= len(whole) - 1 or shape[texts:] != whole[texts:]:
        return None
    return operands.rows(name)
