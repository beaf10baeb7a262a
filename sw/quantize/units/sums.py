"""What no product finishes: sums of what units make, is given or known, and known multiples."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.quantize.units.operands import Operands
from celosia.sw.quantize.units.units import Units
from celosia.sw.quantize.units.values import Value
from celosia.sw.quantize.units.vectors import Addition, Affine

__all__ = ["Context", "find_addition", "find_affine", "find_term", "given_sums"]

_MOST_TEXTS: Final = 16
"""Texts to which the same rows are added, each by an operator of its own."""
_LARGEST_FACTOR: Final = 1e6
"""A term that is multiplied with more leaves nothing of the other one."""


@dataclass(frozen=True)
class Context:
    """Where units look for what is in front of a node, and behind it."""

    operands: Operands
    readers: Mapping[str, list[Node]]
    outputs: Collection[str]

    def alone(self, name: str) -> Node | None:
        """The only node that reads a tensor, if it is no output."""
        readers = self.readers[name]
        return readers[0] if len(readers) == 1 and name not in self.outputs else None


@dataclass(frozen=True)
class Term:
    """A term of a sum: a tensor, and what it is multiplied with."""

    name: str
    factor: float = 1.0
    nodes: tuple[str, ...] = ()
    """The product with the factor, if the sum has it."""


def find_term(context: Context, node: Node, name: str) -> Term:
    """An operand of the sum or difference `node`, in front of its factor if nobody else has it."""
    operands = context.operands
    scaled = operands.reader.scaled(name)
    if scaled is None or context.alone(name) is not node or operands.made_rows(name) is not None:
        return Term(name)
    source, factor = scaled
    known = factor and abs(factor) < _LARGEST_FACTOR and operands.made_rows(source) is not None
    return Term(source, factor, (name,)) if known else Term(name)


def find_addition(
    context: Context, node: Node, given: Collection[str] = frozenset()
) -> Addition | None:
    """A sum of what a unit makes and of something else; None: the host makes all that is added.

    A sum of `given` may be of terms that the host makes.
    """
    operands, reader = context.operands, context.operands.reader
    terms = [find_term(context, node, name) for name in node.inputs]
    for one, other in (terms, terms[::-1]) if node.type.rank > 1 else ():
        if reader.type(one.name) != node.type or not _is_rows(reader, other.name, node):
            continue
        is_given = node.name in given and reader.value(one.name) is None
        a = operands.rows(one.name) if is_given else operands.made_rows(one.name)
        if a is not None:
            return Addition(
                value=Value(node.name),
                a=a,
                b=operands.rows(other.name),
                factors=(one.factor, other.factor),
                nodes=(*one.nodes, *other.nodes, node.name),
            )
    return None


def find_affine(context: Context, node: Node) -> Affine | None:
    """What a unit makes, times a number for each column, and the numbers that are added behind.

    A batch normalization or MobileBERT's NoNorm behind a sum is one.  None: it is something else.
    """
    operands, reader = context.operands, context.operands.reader
    cols = node.type.shape[-1] if node.type.rank > 1 else 0
    computed = [name for name in node.inputs if reader.value(name) is None]
    x = operands.made_rows(computed[0]) if cols and len(computed) == 1 else None
    if x is None or reader.type(computed[0]) != node.type:
        return None
    factors = operands.factors(node, cols)
    addends = operands.bias(computed[0], node, cols)
    last, behind = node, context.alone(node.name)
    if factors is not None and behind is not None:
        addends = operands.bias(node.name, behind, cols) if behind.type == node.type else None
        last = behind if addends is not None else node
    if addends is not None and not addends.any():
        addends = None
    known = [each for each in (factors, addends) if each is not None]
    if not known or not all(np.isfinite(each).all() and each.any() for each in known):
        return None
    return Affine(
        value=Value(last.name),
        x=x,
        factors=factors,
        addends=addends,
        nodes=tuple(dict.fromkeys((node.name, last.name))),
    )


def _is_rows(reader: Reader, name: str, node: Node) -> bool:
    """Whether a term is as a sum is, or a constant that stands for the rows of each text."""
    whole, shape = node.type.shape, reader.type(name).shape
    if reader.value(name) is None:
        return reader.type(name) == node.type
    shape = (1,) * (len(whole) - len(shape)) + shape
    texts = next((i for i, size in enumerate(shape) if size != 1), len(shape) - 1)
    few = prod(whole[:texts]) <= _MOST_TEXTS
    return few and texts < len(whole) - 1 and shape[texts:] == whole[texts:]


def given_sums(graph: FloatGraph, found: Units) -> frozenset[str]:
    """The sums of what the host looks up that units alone read, as those of embeddings are.

    The host takes longer to add than the accelerator to load.
    """
    reader, readers = Reader(graph), graph.readers()
    others = set(graph.outputs.values())
    for unit in found.units.values():
        others.update(
            found.values[form.key].tensor for form in unit.reads() if form.role not in Addition.ABLE
        )
    taken, sums = set(found.nodes), set[str]()
    for node in reversed(graph.nodes):
        behind = {each.name for each in readers[node.name]}
        alone = behind and behind <= taken and node.name not in others
        if node.op != "add" or node.name in taken or not alone or not node.type.is_float:
            continue
        if all(_is_rows(reader, name, node) for name in node.inputs):
            taken.add(node.name)
            sums.add(node.name)
    return frozenset(sums)
