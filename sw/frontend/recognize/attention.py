"""Recognizes attention: two products with a softmax between them, in all forms of exporters.

Scores may be scaled before the product, on either side or both, or behind it, each head by a factor
of its own, and kept small by a tanh before masks; masks are added or chosen by `where`, and what is
added may be scaled, too; batch and heads may be one axis between the products; rows without keys
may be guarded against.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Final

import numpy as np

from celosia.isa.numerics import MAX_COLUMNS
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import Node
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.prove import (
    HIDDEN,
    Probe,
    or_hidden,
    ordinary_rows,
    seen_somewhere,
)
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match, Refusal

__all__ = ["find_attention"]

_VANISHING: Final = -1e30
"""A bias from here down is what remains if scores are added to it."""
_STEPS: Final = 12
"""Operators from the product on to the softmax, at most, the product itself included."""


@dataclass(frozen=True)
class _Term:
    """What is added to scores: a tensor, or minus infinity where a bool says so."""

    name: str
    hides: bool | None = None
    """For a bool: whether it hides where it is true, or where it is false."""
    factor: float = 1.0
    """By what it is multiplied, if it is no bool; -1 if it is subtracted."""
    least: float = -np.inf
    """What hides a key: a finite number, so that a row without keys stays the mean of all."""


@dataclass(frozen=True)
class _Scores:
    """How scores come from a product."""

    product: Node
    scale: float
    terms: tuple[_Term, ...]
    shapes: tuple[tuple[int, ...], ...]
    """The shapes that scores have on their way."""
    floor: float = -np.inf
    """The least number that a score is, behind all that is added."""
    cap: float | None = None
    """The factor behind a tanh of the scores, if there is one; `scale` has it, too."""
    heads: str | None = None
    """A constant by which the scores of each head are multiplied before anything is added."""


def find_attention(reader: Reader) -> Iterator[Match | Refusal]:
    """Every product whose first operand is a softmax of scores, or its second one, turned."""
    for node in reader.nodes:
        if node.op != "matmul":
            continue
        found, weights = _softmax(reader, node.inputs[0]), _turned(reader, node.inputs[1])
        turned = found is None and weights is not None
        if weights is not None and turned:
            found = _softmax(reader, weights)
        if found is None:
            continue
        softmax, guard = found
        scores = _scores(reader, softmax.inputs[0])
        if scores is None:
            yield Refusal("attention", node.name, _no_scores(reader, softmax.inputs[0]))
            continue
        shape = _four_axes((*scores.shapes, softmax.type.shape))
        if shape is None:
            yield Refusal("attention", node.name, f"its scores are {softmax.type}")
            continue
        yield _match(reader, node, scores, shape, guard, turned=turned)


def _turned(reader: Reader, name: str) -> str | None:
    """What a tensor is the transpose of, row by row."""
    node = reader.producer(name, "transpose")
    if node is None or node.type.rank < 2:
        return None
    last = node.type.rank - 1
    order = (*range(last - 1), last, last - 1)
    return node.inputs[0] if node.attributes["permutation"] == order else None


def _swapped(builder: GraphBuilder, x: str) -> str:
    """The transpose of each matrix."""
    last = builder.type(x).rank - 1
    return builder.op("transpose", x, permutation=(*range(last - 1), last, last - 1))


def _softmax(reader: Reader, name: str) -> tuple[Node, str | None] | None:
    """The softmax along keys that an operand of a product is, and its guard.

    That is a condition by which rows are chosen to be 0, whatever it is: the proof compares.
    """
    condition = None
    for _ in range(_STEPS):
        guard = reader.producer(name, "where")
        if guard is not None:
            zeros = [reader.scalar(each) == 0 for each in guard.inputs[1:]]
            if sum(zeros) != 1:
                return None
            condition, name = guard.inputs[0], guard.inputs[2 if zeros[0] else 1]
            continue
        view = reader.producer(name, "reshape")
        if view is None:
            break
        name = view.inputs[0]
    found = reader.producer(name, "softmax")
    if found is None or found.type.rank < 2:
        return None
    return (found, condition) if found.attributes["axis"] in {-1, found.type.rank - 1} else None


def _scores(reader: Reader, name: str, steps: int = _STEPS) -> _Scores | None:
    """Walk from the softmax up to the product; None where there is another operator."""
    node = reader.producer(name)
    if node is None or steps == 0:
        return None
    if node.op == "matmul":
        weights = reader.value(node.inputs[1]) is not None
        # A product with weights stays one if no attention has so many keys.
        stays = weights and node.type.rank and node.type.shape[-1] > MAX_COLUMNS
        return None if stays else _Scores(node, 1.0, (), (node.type.shape,))
    if node.op == "tanh":
        return _capped(_scores(reader, node.inputs[0], steps - 1))
    for above, factor, term in _above(reader, node):
        scores = _scores(reader, above, steps - 1)
        if scores is not None:
            # What is added before a factor is multiplied by it: only the proof can tell.
            terms = [replace(each, factor=each.factor * factor) for each in scores.terms]
            return replace(
                scores,
                scale=scores.scale * factor,
                terms=tuple(terms) if term is None else (*terms, term),
                shapes=(*scores.shapes, node.type.shape),
                floor=max(scores.floor, _floor(reader, node, above)),
                cap=None if scores.cap is None else scores.cap * factor,
            )
    return _of_heads(reader, node, steps)


def _of_heads(reader: Reader, node: Node, steps: int) -> _Scores | None:
    """Scores times a known factor of each head."""
    if node.op != "mul" or node.type.rank != 4:
        return None
    for above, factor in (node.inputs, node.inputs[::-1]):
        value = reader.value(factor)
        if value is not None and value.shape[-2:] == (1, 1):
            scores = _scores(reader, above, steps - 1)
            if scores is None or scores.terms or scores.heads or scores.cap is not None:
                return None
            return replace(scores, heads=factor)
    return None


def _capped(scores: _Scores | None) -> _Scores | None:
    """Scores behind a tanh; None: something is added to them before it, or it is the second one."""
    if scores is None or scores.terms or scores.cap is not None:
        return None
    return replace(scores, cap=1.0)


def _no_scores(reader: Reader, name: str) -> str:
    """Why no product is found from the softmax up, and which curve is in the way, if one is."""
    reason, names = "its scores are not those of one product", [name]
    for each in names:
        node = reader.producer(each)
        if node is not None and OPERATORS[node.op].written == "middle":
            return f"{reason}: they are behind a {node.op}"
        if node is not None and len(names) < _STEPS:
            names += [above for above, _, _ in _above(reader, node)]
    return reason


def _above(reader: Reader, node: Node) -> Iterator[tuple[str, float, _Term | None]]:
    """Operands that may be the scores, by which factor, and what is added to them."""
    scaled = reader.scaled(node.name)
    if scaled is not None:
        yield *scaled, None
    elif node.op == "reshape":
        yield node.inputs[0], 1.0, None
    elif node.op == "where":
        condition, chosen, other = node.inputs
        if _hidden(reader, other):
            yield chosen, 1.0, _Term(condition, hides=False, least=_least(reader, other))
        if _hidden(reader, chosen):
            yield other, 1.0, _Term(condition, hides=True, least=_least(reader, chosen))
    elif node.op in {"add", "sub", "mul", "max"}:
        left, right = node.inputs
        term = _added(reader, node, right)
        if term is not None:
            yield left, 1.0, term
        if node.op == "add":
            yield right, 1.0, _Term(left)
        elif node.op == "max" and _hidden(reader, right):
            yield left, 1.0, None


def _floor(reader: Reader, node: Node, above: str) -> float:
    """The number below which a maximum lets no score be, if it is one that hides keys."""
    if node.op != "max":
        return -np.inf
    (other,) = [name for name in node.inputs if name != above]
    return _least(reader, other)


def _added(reader: Reader, node: Node, operand: str) -> _Term | None:
    """What the second operand of a sum, a difference or a product by 0 and 1 does to scores."""
    if node.op == "add":
        return _Term(operand)
    if node.op == "sub":
        return _Term(operand, factor=-1.0)
    value = reader.value(operand)
    if node.op == "mul" and value is not None and np.isin(value, (0, 1)).all():
        # What is subtracted behind it hides where it is 0: the proof tells.
        return _Term(operand, hides=False)
    return None


def _hidden(reader: Reader, name: str) -> bool:
    number = reader.scalar(name)
    value = reader.value(name)
    if number is None and value is not None and value.size:
        return float(value.max()) <= HIDDEN
    return number is not None and number <= HIDDEN


def _least(reader: Reader, name: str) -> float:
    """What hides a key, as what is added to scores: a row without keys stays the mean of all.

    Beside a finite number that is added no score may be left, as none is where it is chosen.
    """
    value = reader.value(name)
    least = -np.inf if value is None else float(value.max())
    return min(least, _VANISHING)


def _four_axes(shapes: Sequence[tuple[int, ...]]) -> tuple[int, int, int, int] | None:
    """Scores as (batch, heads, queries, keys), if their shapes only merge the first axes.

    What is in front of heads splits the batch, such as into images and their windows.
    """
    ends = {shape[-2:] for shape in shapes if len(shape) >= 2}
    if len(ends) != 1 or any(len(shape) < 2 for shape in shapes):
        return None
    rows, keys = ends.pop()
    whole = {(prod(shape[:-3]), shape[-3]) for shape in shapes if len(shape) >= 4}
    if len(whole) > 1:
        return None
    batch, heads = whole.pop() if whole else (1, prod(shapes[0][:-2]))
    return batch, heads, rows, keys


def _match(
    reader: Reader,
    root: Node,
    scores: _Scores,
    shape: tuple[int, int, int, int],
    guard: str | None,
    *,
    turned: bool,
) -> Match:
    """Attention in the place of a product, whose second operand is turned weights, if `turned`."""
    queries, query_views, query_scale = _unscaled(reader, scores.product.inputs[0])
    keys, key_views, key_scale = _unscaled(reader, scores.product.inputs[1])
    scale = scores.scale * query_scale * key_scale
    batch, heads, rows, count = shape
    depth = scores.product.inputs[0]
    width = reader.type(depth).shape[-1]
    result, values = root.type.shape, root.inputs[0 if turned else 1]
    # A guard by a mask itself makes rows 0, also where a finite number hides all of their keys.
    added = [replace(each, least=-np.inf) if each.name == guard else each for each in scores.terms]

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        q, k, v, *terms = operands
        q = _shaped(builder, reader.replay(builder, q, query_views), (batch, heads, rows, width))
        if scores.heads is not None:
            factors = np.asarray(reader.value(scores.heads), builder.type(q).dtype)
            q = builder.op("mul", q, builder.constant(factors))
        k = _shaped(builder, reader.replay(builder, k, key_views), (batch, heads, width, count))
        k = _swapped(builder, k)
        v = _swapped(builder, v) if turned else v
        v = _shaped(builder, v, (batch, heads, count, result[-2 if turned else -1]))
        bias = _bias(builder, terms, added, shape, q)
        if bias and scores.floor > -np.inf:
            bias = [builder.op("max", *bias, builder.like(scores.floor, q))]
        attributes = {"scale": float(scale), "causal": False, "first_query": 0}
        if scores.cap is not None:
            attributes["cap"] = abs(scores.cap)
        context = builder.op("attention", q, k, v, *bias, **attributes)
        return _shaped(builder, _swapped(builder, context) if turned else context, result)

    probes: dict[int, Probe] = {1: ordinary_rows}
    # Rows that one mask hides and another one, too, would not show what either does alone.
    masked = any(each.hides is not None for each in added)
    for index, term in enumerate(added):
        hides = guard is not None and masked == (term.hides is not None)
        probes[3 + index] = _probe(term, hidden=hides)
    operands = (queries, keys, values, *(term.name for term in added))
    return Match(what="attention", root=root.name, operands=operands, build=build, probes=probes)


def _probe(term: _Term, *, hidden: bool) -> Probe:
    """Masks that show each query a key, or some that show it none, too (`hidden`)."""
    probe = ordinary_rows if term.hides is None else seen_somewhere
    if hidden:
        probe = or_hidden(probe)
    return (lambda random, kind: ~probe(random, kind)) if term.hides else probe


def _unscaled(reader: Reader, name: str) -> tuple[str, list[Node], float]:
    """What an operand is a view and a multiple of: factors are taken out from between views."""
    views: list[Node] = []
    factor = 1.0
    while True:
        name, more = reader.chain(name)
        views = [*more, *views]
        scaled = reader.scaled(name)
        if scaled is None:
            return name, views, factor
        name, factor = scaled[0], factor * scaled[1]


def _shaped(builder: GraphBuilder, x: str, shape: Sequence[int]) -> str:
    found = builder.type(x).shape
    if found == tuple(shape):
        return x
    size = int(np.prod(found))
    if size != int(np.prod(shape)):  # Stacks that are repeated, as NumPy's product repeats them.
        x = builder.op("broadcast", x, shape=(*shape[:2], *found[-2:]))
    return builder.op("reshape", x, shape=tuple(shape))


def _bias(
    builder: GraphBuilder,
    names: Sequence[str],
    terms: Sequence[_Term],
    shape: tuple[int, int, int, int],
    like: str,
) -> list[str]:
    """The sum of all terms, with at most four axes; nothing, if there are none."""
    total: str | None = None
    for name, term in zip(names, terms, strict=True):
        found = name
        if term.hides is None and term.factor == -1:
            found = builder.op("neg", found)
        elif term.hides is None and term.factor != 1:
            found = builder.op("mul", found, builder.like(term.factor, like))
        elif term.hides is not None:
            known = builder.type(name).dtype == "bool"
            condition = name if known else builder.op("cast", name, to="bool")
            zero, least = builder.like(0, like), builder.like(term.least, like)
            choice = (least, zero) if term.hides else (zero, least)
            found = builder.op("where", condition, *choice)
        sizes = builder.type(found).shape
        if len(sizes) == 3 and sizes[0] == shape[0] * shape[1] > 1:
            found = builder.op("reshape", found, shape=(*shape[:2], *sizes[1:]))
        elif len(sizes) == 5:
            images = shape[0] // sizes[1]
            found = builder.op("broadcast", found, shape=(images, *sizes[1:]))
            found = builder.op("reshape", found, shape=(images * sizes[1], *sizes[2:]))
        total = found if total is None else builder.op("add", total, found)
    return [] if total is None else [total]
