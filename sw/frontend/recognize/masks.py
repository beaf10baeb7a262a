"""Tells what the masks of attention are: counts of keys, causal, a constant bias, or neither.

A mask is a function of what the user gives; what it does is found by evaluating it on masks that
show all tokens, and on some that are padded on the right.  How it is written does not matter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import MAX_COLUMNS, causal_mask
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array, GraphError, TensorType
from celosia.sw.frontend.recognize.prove import HIDDEN, Probe, ordinary_rows
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.frontend.recognize.rewrite import Match, Refusal

__all__ = ["MaskForm", "find_masks", "is_right_padded", "mask_form"]

_ROUNDS: Final = 6

# What each graph that is being built has instead of a bias: layers that share one share its parts.
# A builder that is gone takes its parts along, so that none with its address finds them.
_Made = WeakKeyDictionary[GraphBuilder, dict[str, list[str]]]


@dataclass(frozen=True)
class MaskForm:
    """What the bias of an attention is made of, after `find_masks`."""

    keys: str | None
    """The tensor with the number of keys of each text, from the first; None: all count."""
    bias: str | None
    """The constant, or else the tensor, that is added beside it."""


@dataclass(frozen=True)
class _Meaning:
    """What a bias does."""

    given: str | None
    """The input whose rows are 1 for keys that count, and then 0."""
    diagonal: tuple[int, int | None] | None
    """The last key that the first query sees, and the window of each; None: it hides nothing."""
    bias: NDArray[np.float32] | None
    """A constant bias of all scores."""


def is_right_padded(mask: Array) -> bool:
    """Whether each row is 1s, one at least, and then 0s."""
    if not mask.size:
        return not mask.shape[0]  # A row without tokens does not begin with a 1.
    rows = mask.reshape(-1, mask.shape[-1]).astype(np.int64)
    shown = rows == 1
    valid = (shown | (rows == 0)).all() and shown[:, 0].all()
    return bool(valid and (np.diff(rows, axis=1) <= 0).all())


def find_masks(reader: Reader, *, padded: bool = True) -> Iterator[Match | Refusal]:
    """Attention whose bias only depends on one mask of the user's, or on nothing.

    Without `padded`, masks of the user's may be of any form, and none is a count of keys.
    """
    known: dict[str, _Meaning | str] = {}
    made: _Made = WeakKeyDictionary()
    for node in reader.nodes:
        if node.op != "attention" or len(node.inputs) < 4:
            continue
        bias = node.inputs[3]
        if mask_form(reader, node).bias is None or not reader.type(bias).size:
            continue
        if bias not in known:
            known[bias] = _meaning(reader, node)
        meaning = known[bias]
        if isinstance(meaning, str):
            yield Refusal("a mask", node.name, meaning)
        elif meaning.given is not None and not padded:
            yield Refusal("a mask", node.name, f"{meaning.given} need not be padded on the right")
        elif not _is_plain(reader, node, meaning):
            yield _match(reader, node, meaning, made)


def mask_form(reader: Reader, node: Node) -> MaskForm:
    """The parts of an attention's bias."""
    if len(node.inputs) < 4:
        return MaskForm(None, None)
    name, bias = node.inputs[3], None
    total = reader.producer(name, "add")
    if total is not None and reader.value(total.inputs[1]) is not None:
        name, bias = total.inputs
    chosen = reader.producer(name, "where")
    test = reader.producer(chosen.inputs[0], "less") if chosen else None
    counts = reader.producer(test.inputs[1], "reshape") if test else None
    if (
        chosen is None
        or test is None
        or counts is None
        or reader.scalar(chosen.inputs[1]) != 0
        or reader.scalar(chosen.inputs[2]) != -np.inf
        or not _counts_up(reader.value(test.inputs[0]))
    ):
        return MaskForm(None, node.inputs[3])
    return MaskForm(counts.inputs[0], bias)


def _counts_up(value: Array | None) -> bool:
    return value is not None and np.array_equal(value.reshape(-1), np.arange(value.size))


def _is_plain(reader: Reader, node: Node, meaning: _Meaning) -> bool:
    """Whether nothing is to be changed: the bias is a constant that hides nothing."""
    return (
        meaning.given is None
        and meaning.diagonal is None
        and meaning.bias is not None
        and reader.value(node.inputs[3]) is not None
    )


def _meaning(reader: Reader, node: Node) -> _Meaning | str:
    """What the bias of an attention does, or why nobody knows."""
    name = node.inputs[3]
    rows, keys = reader.type(node.inputs[0]).shape[2], reader.type(node.inputs[1]).shape[2]
    origins = sorted(reader.origins(name))
    if len(origins) > 1:
        return f"it depends on several inputs: {', '.join(origins)}"
    given = origins[0] if origins else None
    if given is not None:
        kind = reader.type(given)
        if kind.is_float or kind.rank != 2 or kind.shape[1] != keys:
            return f"it depends on {given}, {kind}, which is no mask of {keys} keys"
    whole = _evaluate(reader, name, given, None)
    if whole is None:
        return "it cannot be evaluated by itself"
    hidden = whole <= HIDDEN
    rest = np.where(hidden, 0, whole)
    diagonal = None
    if hidden.any():
        diagonal = _diagonal(hidden, rows, keys)
        rest = np.where(hidden, -np.inf, whole) if diagonal is None else rest
    if rest.shape[0] > 1 and not (rest == rest[:1]).all():
        return "it is another one for each text"
    if given is not None:
        reason = _counts_keys(reader, name, given, whole)
        if reason is not None:
            return reason
    bias = rest[:1].astype(np.float32)
    return _Meaning(given, diagonal, bias if bias.any() else None)


def _diagonal(hidden: NDArray[np.bool_], rows: int, keys: int) -> tuple[int, int | None] | None:
    """Which key the first query sees last, and the window of all; None: it is no such mask."""
    if hidden.shape[-2:] != (rows, keys) or not rows == keys <= MAX_COLUMNS:
        return None
    seen = ~hidden.reshape(-1, rows, keys)[0]
    if not (seen[0].any() and seen[-1].any()):
        return None
    first = int(np.flatnonzero(seen[0])[-1])
    passed = int(np.flatnonzero(seen[-1])[0])
    window = first + rows - passed if passed else None
    if window is not None and not 1 <= window <= MAX_COLUMNS:
        return None
    fits = bool((hidden == ~causal_mask(rows, keys, first, window)).all())
    return (first, window) if fits else None


def _counts_keys(reader: Reader, name: str, given: str, whole: Array) -> str | None:
    """Why a bias does not just hide the keys that the mask does not show; None if it does."""
    random = np.random.default_rng(0)
    kind = reader.type(given)
    for _ in range(_ROUNDS):
        mask = _right_padded(random, kind)
        found = _evaluate(reader, name, given, mask)
        if found is None:
            return "it cannot be evaluated by itself"
        shown = mask.astype(bool)[:, np.newaxis, np.newaxis, :]
        hidden = (whole <= HIDDEN) | ~shown
        hidden, found, whole_here = np.broadcast_arrays(hidden, found, whole)
        if not np.array_equal(found <= HIDDEN, hidden):
            return f"it does not hide what {given} hides"
        if not np.allclose(found[~hidden], whole_here[~hidden], rtol=1e-6):
            return f"{given} changes the bias of keys that it shows"
    return None


def _right_padded(random: np.random.Generator, kind: TensorType) -> Array:
    lengths = random.integers(1, kind.shape[1] + 1, (kind.shape[0], 1))
    return (np.arange(kind.shape[1]) < lengths).astype(kind.dtype)


def _evaluate(reader: Reader, name: str, given: str | None, mask: Array | None) -> Array | None:
    """The bias as four axes, for this mask or one of 1s."""
    inputs = {} if given is None else {given: reader.type(given)}
    nodes = tuple(reader.between(name, tuple(inputs)))
    needed = {operand for node in nodes for operand in node.inputs} | {name}
    constants = {key: value for key, value in reader.graph.constants.items() if key in needed}
    cut = FloatGraph(
        name="mask", inputs=inputs, constants=constants, nodes=nodes, outputs={"bias": name}
    )
    values: dict[str, Array] = {}
    if given is not None:
        kind = reader.type(given)
        values[given] = np.ones(kind.shape, kind.dtype) if mask is None else mask
    try:
        found = interpret(cut, values)["bias"]
    except GraphError:
        return None
    return found.reshape((1,) * (4 - found.ndim) + found.shape)


def _match(reader: Reader, node: Node, meaning: _Meaning, made: _Made) -> Match:
    old = node.inputs[3]

    def build(builder: GraphBuilder, operands: Sequence[str]) -> str:
        queries, keys, values, *given = operands
        parts = made.setdefault(builder, {})
        if old not in parts:
            parts[old] = _parts(builder, meaning, given, builder.type(keys).shape[2], queries)
        attributes: dict[str, Any] = dict(node.attributes)
        if meaning.diagonal is not None:
            attributes |= _seen(node, *meaning.diagonal)
        return builder.op("attention", queries, keys, values, *parts[old], **attributes)

    operands = (*node.inputs[:3], *([] if meaning.given is None else [meaning.given]))
    probes: dict[int, Probe] = {1: ordinary_rows}
    if meaning.given is not None:
        probes[3] = _right_padded
    return Match(what="a mask", root=node.name, operands=operands, build=build, probes=probes)


def _seen(node: Node, first: int, window: int | None) -> dict[str, Any]:
    """What queries see by the attributes of an attention and by its mask."""
    own, least = node.attributes["first_query"], None if window is None else first - window
    assert isinstance(own, int)
    if node.attributes["causal"]:
        first = min(own, first)
        if "window" in node.attributes:
            behind = own - int(str(node.attributes["window"]))
            least = behind if least is None else max(least, behind)
    found = {"causal": True, "first_query": first}
    return found if least is None else found | {"window": max(first - least, 1)}


def _parts(
    builder: GraphBuilder, meaning: _Meaning, given: Sequence[str], keys: int, like: str
) -> list[str]:
    """The bias as `mask_form` reads it; nothing, if there is none."""
    total = None
    if given:
        (mask,) = given
        batch = builder.type(mask).shape[0]
        numbers = builder.op("cast", mask, to="int64")
        counts = builder.op("reduce_sum", numbers, axes=(1,), keepdims=False, name=f"{mask}.keys")
        counts = builder.op("reshape", counts, shape=(batch, 1, 1, 1))
        places = builder.constant(np.arange(keys).reshape(1, 1, 1, keys))
        counted = builder.op("less", places, counts)
        total = builder.op("where", counted, builder.like(0, like), builder.like(-np.inf, like))
    if meaning.bias is not None:
        constant = builder.constant(meaning.bias.astype(builder.type(like).dtype))
        total = constant if total is None else builder.op("add", total, constant)
    return [] if total is None else [total]
