"""The products that an attention reads, a matrix each for queries, keys and values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.isa.numerics.rotation import ROTATION_FRACTION_BITS
from celosia.sw.decoding.imported.stack import Stack
from celosia.sw.ir.graph import View
from celosia.sw.quantize.graphs.units import Attention, Product, Rotation
from celosia.sw.reference.encoder import Floats, Linear

__all__ = ["AttentionParts", "attention_parts"]

_NEAR: Final = 1e-6
_ANGLES: Final = 2.0 ** -(ROTATION_FRACTION_BITS - 2)
"""How far cosines and sines may be from those of a base: what their integers hardly tell apart."""


@dataclass(frozen=True)
class AttentionParts:
    """What one attention is made of."""

    node: str
    """The node of the file, for messages."""
    heads: int
    key_heads: int
    width: int
    """Columns of a head."""
    x: View
    """What all three products read."""
    linears: Mapping[str, Linear]
    """``query``, ``key`` and ``value``, heads beside each other."""
    rotary_base: float | None
    """None: nothing is turned."""

    @property
    def kind(self) -> tuple[int, int, int, float | None]:
        """What all layers of a decoder have the same."""
        return self.heads, self.key_heads, self.width, self.rotary_base


def attention_parts(stack: Stack, unit: Attention) -> AttentionParts:
    """The parts of a causal attention.  Raises `DecoderProblem` that says what is in the way."""
    (heads,) = unit.heads
    if not unit.causal or unit.first_row or unit.keys or any(head.onto for head in heads):
        raise stack.problem(unit, "its mask is not causal and nothing else")
    shared = len(heads) // len(dict.fromkeys(head.key for head in heads))
    groups = heads[::shared]
    for number, head in enumerate(heads):
        group = groups[number // shared]
        if (head.key, head.value) != (group.key, group.value):
            raise stack.problem(unit, "heads that share keys do not follow each other")
    queries, turned = _unturned(stack, unit, [head.query for head in heads])
    keys, also_turned = _unturned(stack, unit, [head.key for head in groups])
    if turned != also_turned:
        raise stack.problem(unit, "queries and keys are not turned alike")
    operands = {"query": queries, "key": keys, "value": [head.value for head in groups]}
    linears = {}
    xs: dict[View, None] = {}
    for name, views in operands.items():
        products = [stack.at(view, Product, f"a product for each {name}") for view in views]
        parts = [
            (product.linear.weights[:, columns], product.linear.bias[columns])
            for product, columns in zip(products, map(_columns, views), strict=True)
        ]
        weights, biases = zip(*parts, strict=True)
        linears[name] = Linear(np.concatenate(weights, axis=1), np.concatenate(biases))
        xs |= dict.fromkeys(product.x for product in products)
    if len(xs) > 1:
        raise stack.problem(unit, "queries, keys and values are of different operands")
    width = heads[0].query.cols
    linears["query"] = _scaled(linears["query"], unit.scale * np.sqrt(width))
    return AttentionParts(
        node=stack.label(unit),
        heads=len(heads),
        key_heads=len(groups),
        width=width,
        x=next(iter(xs)),
        linears=linears,
        rotary_base=turned,
    )


def _columns(view: View) -> slice:
    return slice(view.col, view.col + view.cols)


def _scaled(linear: Linear, factor: float) -> Linear:
    """Queries whose scores are divided by the root of a head's width, as is usual."""
    if abs(factor - 1) < _NEAR:
        return linear
    return Linear(linear.weights * np.float32(factor), linear.bias * np.float32(factor))


def _unturned(
    stack: Stack, unit: Attention, views: Sequence[View]
) -> tuple[list[View], float | None]:
    """Operands before rotary positions, and the base of these; None: there are none."""
    made = [stack.unit(view) for view in views]
    if not any(isinstance(each, Rotation) for each in made):
        return list(views), None
    found, bases = [], {}
    for each, view in zip(made, views, strict=True):
        turns = each.turns if isinstance(each, Rotation) else ()
        turn = next((turn for turn in turns if turn.out == view), None)
        table = None if turn is None else stack.reader.value(stack.tensor(turn.table))
        if turn is None or table is None:
            raise stack.problem(unit, "its heads are not all turned by known angles")
        found.append(turn.x)
        bases[stack.tensor(turn.table)] = table.reshape(-1, view.cols)
    base = _base(next(iter(bases.values())))
    if any(not _is_of_base(table, base) for table in bases.values()):
        raise stack.problem(unit, "its angles are not those of a base and the tokens' positions")
    return found, base


def _base(table: Floats) -> float:
    """The base of rotary positions, by the slowest turn from the first token to the second."""
    half = table.shape[1] // 2
    if half < 2:
        return 1.0
    slowest = float(np.arctan2(table[1, -1], table[1, half - 1]))
    base = float(np.exp(-np.log(max(slowest, 1e-12)) * half / (half - 1)))
    return float(round(base)) if abs(base - round(base)) < 1e-3 * base else base


def _is_of_base(table: Floats, base: float) -> bool:
    half = table.shape[1] // 2
    angles = np.arange(len(table))[:, np.newaxis] * base ** (-np.arange(half) / half)
    exact = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    return bool(np.abs(table - exact).max() < _ANGLES)
