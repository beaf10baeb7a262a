"""Which elements of a float graph's outputs belong to tokens that somebody sees.

A token is hidden where no token that counts sees it, in any head.  That is found by evaluation,
whatever masks look like: from what is added to scores, or from the softmax of attention that was
not recognized.  A row of an output belongs to hidden tokens if it changes with what attention
gives them, and does not with what it gives the others, each behind a mask of its own: pooling
that ignores the mask reads both, so its rows count.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.recognize.prove import HIDDEN
from celosia.sw.frontend.recognize.reader import Reader

__all__ = ["Rows", "interpret_visibly"]

Bools = NDArray[np.bool_]

_SEED: Final = 0x5EE
_CHANGED: Final = 1e-5
"""Differences below, as a share of the output's largest number, are roundings."""
_KEPT: Final = frozenset({"where", "cast", "mul", "reshape"})
"""What may be between a softmax and the product that reads it: dropout, guards, types."""


@dataclass(frozen=True, eq=False)
class Rows:
    """What of an output counts."""

    visible: Bools
    """One for each row, or for each element, where elements of one row belong to several tokens."""
    texts: bool = False
    """Its first axis is that of the texts, each of which becomes a vector: a mask says which tokens
    are pooled."""


@dataclass(frozen=True)
class _Mixer:
    """A node whose rows are means of what other tokens have: attention, written in any way."""

    node: Node
    scores: str
    """What says which keys a query sees: its bias, or the probabilities."""
    given: frozenset[str]
    """The inputs that a bias is made from."""
    alone: bool
    """Queries and keys are the same tokens."""


def interpret_visibly(
    graph: FloatGraph, inputs: Mapping[str, Array]
) -> tuple[dict[str, Array], dict[str, Rows]]:
    """The outputs of a graph, and which of their rows count; outputs that are no numbers have none.

    Raises `GraphError` like `interpret`.
    """
    reader = Reader(graph)
    mixers = list(_mixers(reader))
    wanted = {name for each in mixers for name in (each.scores, each.node.name)}
    values: dict[str, Array] = {name: np.asarray(array) for name, array in inputs.items()}
    values |= graph.constants

    def keep(name: str, value: Array) -> None:
        if name in wanted:
            values[name] = value

    outputs = interpret(graph, inputs, keep)
    floats = {name: value for name, value in outputs.items() if value.dtype.kind == "f"}
    hidden = {
        each.node.name: found
        for each in mixers
        if each.alone and (found := _hidden(each, values, inputs)).any() and not found.all()
    }
    masked = {graph.inputs[name].shape for each in mixers if each.alone for name in each.given}
    masked |= {(rows.shape[0], rows.shape[-1]) for rows in hidden.values() if rows.ndim > 1}
    counts = _counted(graph, values, floats, hidden) if hidden else {}
    return outputs, {
        name: Rows(
            counts.get(name, np.ones(value.shape[:-1], bool)), _is_of_texts(value.shape, masked)
        )
        for name, value in floats.items()
    }


def _mixers(reader: Reader) -> Iterator[_Mixer]:
    for node in reader.graph.nodes:
        rows = node.type.shape[-2] if node.type.rank > 1 else 0
        if node.op == "attention" and node.type.rank == 4:
            queries, keys, _, *bias = node.inputs
            scores = bias[0] if bias else ""
            alone = reader.type(keys).shape[-2] == rows and _shared(reader, queries, keys, rows)
            yield _Mixer(node, scores, frozenset(reader.origins(scores)), alone)
        elif node.op == "matmul" and (softmax := _softmax(reader, node.inputs[0])) is not None:
            alone = _shared(reader, softmax.inputs[0], node.inputs[1], rows)
            yield _Mixer(node, softmax.name, frozenset(), alone)


def _softmax(reader: Reader, name: str) -> Node | None:
    """The softmax of as many keys as queries that a product reads, if it does."""
    while (node := reader.producer(name)) is not None:
        square = node.type.rank > 1 and node.type.shape[-1] == node.type.shape[-2]
        if node.op == "softmax":
            return node if square and node.attributes["axis"] in {-1, node.type.rank - 1} else None
        if node.op not in _KEPT:
            return None
        computed = [each for each in node.inputs if reader.value(each) is None]
        floats = [each for each in computed if reader.type(each).is_float]
        if len(floats) != 1:
            return None
        (name,) = floats
    return None


def _shared(reader: Reader, queries: str, keys: str, rows: int) -> bool:
    """Whether queries and keys are computed from the same tensor of so many rows."""
    found = _behind(reader, queries) & _behind(reader, keys)
    kinds = [reader.type(name) for name in found]
    return any(kind.is_float and rows in kind.shape for kind in kinds)


def _behind(reader: Reader, name: str) -> set[str]:
    """What a tensor is computed from, as far as the last mixers; constants are left out."""
    found: set[str] = set()
    wanted = [name]
    while wanted:
        name = wanted.pop()
        if name in found or reader.value(name) is not None:
            continue
        found.add(name)
        node = reader.producer(name)
        if node is not None and node.op not in {"attention", "softmax"}:
            wanted += node.inputs
    return found


def _hidden(mixer: _Mixer, values: Mapping[str, Array], inputs: Mapping[str, Array]) -> Bools:
    """The tokens that nobody sees who counts, head by head.

    Where there is one text, heads may be the texts of a file without heads.
    """
    node = mixer.node
    rows = node.type.shape[-2]
    if node.op == "attention":
        seen = np.ones((*node.type.shape[:-2], rows, rows), bool)
        if mixer.scores:
            seen &= values[mixer.scores] > HIDDEN
        if node.attributes["causal"]:
            first = node.attributes["first_query"]
            assert isinstance(first, int)
            seen &= np.tri(rows, rows, first, dtype=bool)
            window = node.attributes.get("window")
            if isinstance(window, int):
                seen &= ~np.tri(rows, rows, first - window, dtype=bool)
    else:
        seen = values[mixer.scores] > 0
    for name in mixer.given:
        viewers = _viewers(np.asarray(inputs[name]), seen.shape)
        if viewers is not None:
            seen = seen & viewers
    return np.logical_not(seen.any(axis=-2))


def _viewers(mask: Array, scores: tuple[int, ...]) -> Bools | None:
    """The queries that a mask of tokens shows; None: the input is no such mask.

    Padding may look at anything: exporters let empty rows see all keys.
    """
    if mask.ndim != 2 or mask.shape[1] != scores[-1] or not np.isin(mask, (0, 1)).all():
        return None
    texts = next((axis for axis in (0, 1) if len(mask) in {1, scores[axis]}), None)
    if texts is None:
        return None
    return np.expand_dims(mask.astype(bool)[..., np.newaxis], 1 - texts)


def _counted(
    graph: FloatGraph,
    values: Mapping[str, Array],
    outputs: Mapping[str, Array],
    hidden: Mapping[str, Bools],
) -> dict[str, Bools]:
    """The visible rows, or elements, of each output that hidden tokens change."""
    mixed = {node.name for node in graph.nodes if node.op == "attention"} | hidden.keys()
    mixed &= values.keys()
    cut = _without(graph, mixed)
    given = {name: values[name] for name in cut.inputs}
    # Attention of an encoder whose rows only other attention reads: its own masks hide them there.
    hidden = {name: rows for name, rows in hidden.items() if name in given}
    changes = []
    for chosen in (hidden, {name: ~rows for name, rows in hidden.items()}):
        random = np.random.default_rng(_SEED)
        noisy = {name: _noisy(random, given[name], rows) for name, rows in chosen.items()}
        after = interpret(cut, {**given, **noisy})
        changes.append({name: _changed(outputs[name], after[name]) for name in cut.outputs})
    theirs, others = changes
    return {
        name: found
        for name, changed in theirs.items()
        if (found := _visible(changed, others[name])) is not None
    }


def _without(graph: FloatGraph, mixed: set[str]) -> FloatGraph:
    """The graph with the results of mixers as inputs; its outputs are those that are numbers."""
    types = graph.types()
    outputs = {name: tensor for name, tensor in graph.outputs.items() if types[tensor].is_float}
    needed, nodes = set(outputs.values()), list[Node]()
    for node in reversed(graph.nodes):
        if node.name in needed and node.name not in mixed:
            nodes.append(node)
            needed.update(node.inputs)
    return FloatGraph(
        name=graph.name,
        inputs={name: types[name] for name in (*graph.inputs, *sorted(mixed)) if name in needed},
        constants={name: value for name, value in graph.constants.items() if name in needed},
        nodes=tuple(nodes[::-1]),
        outputs=outputs,
    )


def _noisy(random: np.random.Generator, value: Array, rows: Bools) -> Array:
    """A tensor with other numbers in some of its rows."""
    size = float(np.sqrt(np.mean(np.square(value, dtype=np.float64)))) or 1.0
    noise = (size * random.standard_normal(value.shape)).astype(value.dtype)
    return np.where(np.broadcast_to(rows[..., np.newaxis], value.shape), noise, value)


def _changed(before: Array, after: Array) -> Bools:
    largest = np.abs(before[np.isfinite(before)]).max(initial=0)
    return ~np.isclose(before, after, rtol=0, atol=_CHANGED * largest, equal_nan=True)


def _visible(theirs: Bools, others: Bools) -> Bools | None:
    """The rows, or else the elements, that hidden tokens do not have for themselves."""
    if not theirs.any() or not theirs.ndim:
        return None
    if not (theirs.any(axis=-1) & others.any(axis=-1)).any():
        return np.logical_not(theirs.any(axis=-1))
    return ~(theirs & ~others)


def _is_of_texts(shape: tuple[int, ...], masked: set[tuple[int, ...]]) -> bool:
    """Whether an output has a vector for each token of each text, or one for each text."""
    if len(shape) == 3:
        return shape[:2] in masked
    return len(shape) == 2 and shape not in masked and any(shape[:1] == each[:1] for each in masked)
