"""Steps of a decoder: the graph of all tokens of a text, cut to the rows of some of them.

A row of a causal decoder depends on those before it by keys and values alone, which caches hold.
So a step needs of the graph for a whole text only the rows of its tokens, and of tables (positions,
angles, masks) the rows of their places.  A file's own cache is not needed for that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from celosia.isa.numerics import DITHER_COLUMNS
from celosia.sw.decoding.problem import DecoderProblem
from celosia.sw.decoding.rings import held_by, rings_of
from celosia.sw.decoding.row_rules import moved_axis, resized
from celosia.sw.decoding.texts import CacheLayout, Text, check_texts
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.operator import Array, TensorType
from celosia.sw.frontend.recognize.reader import Reader

__all__ = ["TOKENS", "StepGraph", "Table", "step_graph"]

TOKENS: Final = "input_ids"
"""The input that has the tokens: (1, tokens)."""

_HIDDEN: Final = -1e4
"""What hides a later key is at most this."""


@dataclass(frozen=True, eq=False)
class Table:
    """An input that is rows of a known tensor, chosen by the places of a step's tokens."""

    value: Array
    axis: int
    """The axis with an element for each place."""
    texts: slice
    """The texts whose rows it has."""
    keys: int | None = None
    """How many elements of the last axis it has, one for each key; None: all."""

    def at(self, texts: Sequence[Text]) -> Array:
        """The input for these texts.  Behind the last place all are like it, and keys hidden."""
        found = self.value
        if self.keys is not None:
            more = max(self.keys - found.shape[-1], 0)
            width = [(0, 0)] * (found.ndim - 1) + [(0, more)]
            found = np.pad(found, width, constant_values=found.min())[..., : self.keys]
        if found.shape[self.axis] == 1:
            return found
        places = np.concatenate([np.arange(t.context, t.keys) for t in texts[self.texts]])
        return np.take(found, np.minimum(places, found.shape[self.axis] - 1), self.axis)


@dataclass(frozen=True, eq=False)
class StepGraph:
    """A float graph for the tokens that some texts add."""

    graph: FloatGraph
    tables: Mapping[str, Table]
    """The inputs beside tokens and caches."""
    caches: tuple[str, ...]
    """The inputs that are caches: (rows, columns)."""

    def inputs(self, tokens: Sequence[int], texts: Sequence[Text]) -> dict[str, Array]:
        """All inputs but the caches, for the tokens of all texts, one text behind the other."""
        given: dict[str, Array] = {TOKENS: np.array([tokens], self.graph.inputs[TOKENS].dtype)}
        return given | {name: table.at(texts) for name, table in self.tables.items()}


def step_graph(
    graph: FloatGraph,
    texts: Sequence[Text],
    layout: CacheLayout | None = None,
    keys: int | None = None,
    shorter: int = 0,
) -> StepGraph:
    """The graph for the tokens that `texts` add, one text behind the other.

    `graph` is one for a whole text, behind `recognize`; its only input is (1, places, ...).  With a
    `layout` each attention reads keys and values of caches: `keys` of them, or those that there
    are, without those that no query of a window sees, and would not in texts that are up to so many
    tokens `shorter`.  Without, texts have no tokens before.  Its one output has a row for each
    token.

    Raises `DecoderProblem` for a graph of which a row depends on other tokens by anything but
    causal attention, and `ValueError` as `check_texts` does.
    """
    if layout is not None:
        check_texts(texts, layout.capacity, keys)
    cutter = _Cutter(graph, texts, layout, keys, shorter)
    for node in graph.nodes:
        with cutter.builder.origin(node.origin):
            cutter.take(node)
    return cutter.finish()


@dataclass
class _Cutter:
    """The step in the making, in the order of the whole graph's nodes."""

    graph: FloatGraph
    texts: Sequence[Text]
    layout: CacheLayout | None
    keys: int | None
    shorter: int = 0
    axes: dict[str, int] = field(default_factory=dict)
    """The axis of tokens of each tensor that has one."""
    made: dict[str, str] = field(default_factory=dict)
    """What a tensor is called in the step."""
    tables: dict[str, Table] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)
    """The caches so far, by the tensor that they hold the rows of."""
    caches: list[str] = field(default_factory=list)

    def __post_init__(self):
        self.reader = Reader(self.graph)
        self.rings = {} if self.layout is None else rings_of(self.graph, self.layout)
        self.rows = sum(text.rows for text in self.texts)
        what = ", ".join(f"{text.rows} behind {text.context}" for text in self.texts)
        self.builder = GraphBuilder(f"{self.graph.name}: {what}")
        ((name, kind),) = self.graph.inputs.items()
        self.axes[name] = 1
        kind = TensorType(kind.dtype, (1, self.rows, *kind.shape[2:]))
        self.made[name] = self.builder.input(name, kind)

    def finish(self) -> StepGraph:
        ((name, tensor),) = self.graph.outputs.items()
        if tensor not in self.axes:
            raise DecoderProblem(f"output {name}: it has no row for each token")
        found = self.builder.finish({name: self.made[tensor]})
        read = {name for node in found.nodes for name in node.inputs}
        tables = {name: table for name, table in self.tables.items() if name in read}
        gone = self.tables.keys() - tables.keys()
        inputs = {name: kind for name, kind in found.inputs.items() if name not in gone}
        graph = FloatGraph(
            name=found.name,
            inputs=inputs,
            constants=found.constants,
            nodes=found.nodes,
            outputs=found.outputs,
        )
        return StepGraph(graph, tables, tuple(self.caches))

    def take(self, node: Node) -> None:
        """Add a node, as far as it has rows of the step's tokens."""
        if not any(name in self.axes for name in node.inputs):
            operands = map(self._whole, node.inputs)
            self.made[node.name] = self.builder.op(
                node.op, *operands, name=node.name, **node.attributes
            )
            return
        if node.op == "attention":
            self.axes[node.name], self.made[node.name] = 2, self._attention(node)
            return
        known = {name: self.axes[name] for name in node.inputs if name in self.axes}
        axis, table_axes = moved_axis(self.reader, node, known)
        self.axes[node.name] = axis
        if node.op == "slice" and node.type.shape[axis] < self._size(node.inputs[0]):
            self.made[node.name] = self._last(node)
            return
        operands = [
            self.made[name] if name in known else self._rows(name, table_axes.get(place))
            for place, name in enumerate(node.inputs)
        ]
        attributes = resized(node, axis, self.rows)
        self.made[node.name] = self.builder.op(node.op, *operands, name=node.name, **attributes)

    def _size(self, name: str) -> int:
        return self.reader.type(name).shape[self.axes[name]]

    def _last(self, node: Node) -> str:
        """What picks the last token's row to save work: a step's rows are all wanted."""
        shape, axis = list(self.reader.type(node.inputs[0]).shape), self.axes[node.inputs[0]]
        picked = node.attributes["starts"], node.attributes["sizes"]
        shape[axis] -= 1
        alone = [0] * len(shape)
        alone[axis] = shape[axis]
        shape[axis] = 1
        if picked != (tuple(alone), tuple(shape)):
            raise DecoderProblem(f"{node.origin or node.name}: it picks some of the tokens")
        return self.made[node.inputs[0]]

    def _whole(self, name: str) -> str:
        """A tensor that does not depend on tokens."""
        if name not in self.made:
            value = self.reader.value(name)
            if value is None:
                raise DecoderProblem(f"input {name}: it is not known, and no tokens")
            self.made[name] = self.builder.constant(value, name)
        return self.made[name]

    def _rows(self, name: str, axis: int | None) -> str:
        """A known operand, of which a step has rows along an axis; None: it has all of it."""
        if axis is None:
            return self._whole(name)
        return self._table(name, self._value(name), Table(self._value(name), axis, slice(None)))

    def _value(self, name: str) -> Array:
        value = self.builder.value(self._whole(name))
        if value is None:
            raise DecoderProblem(f"{name}: it is too large to be computed ahead")
        return value

    def _table(self, name: str, value: Array, table: Table) -> str:
        """An input for the rows of `table`, the same for equal ones."""
        for other, known in self.tables.items():
            alike = (known.axis, known.texts, known.keys) == (table.axis, table.texts, table.keys)
            if alike and known.value.shape == value.shape and np.array_equal(known.value, value):
                return other
        kind = TensorType.of(table.at(self.texts))
        self.tables[f"rows of {name}"] = table
        return self.builder.input(f"rows of {name}", kind)

    # Attention.

    def _attention(self, node: Node) -> str:
        """Attention of each text; contexts of several texts stand below each other."""
        if any(self.axes.get(name, 2) != 2 for name in node.inputs[:3]):
            raise DecoderProblem(f"{node.origin or node.name}: its rows are no tokens")
        bias = node.inputs[3] if len(node.inputs) > 3 else None
        self._check_causal(node, bias)
        if len(self.texts) == 1:
            return self._of_text(node, 0, 0, node.name)
        contexts, row = [], 0
        _, heads, _, cols = node.type.shape
        for number, text in enumerate(self.texts):
            found = self._of_text(node, number, row, f"{node.name}.text{number}")
            found = self.builder.op("transpose", found, permutation=(0, 2, 1, 3))
            contexts.append(self.builder.op("reshape", found, shape=(text.rows, heads * cols)))
            row += text.rows
        found = self.builder.op("concat", *contexts, name=node.name, axis=0)
        found = self.builder.op("reshape", found, shape=(1, self.rows, heads, cols))
        return self.builder.op("transpose", found, permutation=(0, 2, 1, 3))

    def _check_causal(self, node: Node, bias: str | None) -> None:
        if node.attributes["causal"] and not node.attributes["first_query"]:
            return
        value = None if bias is None or bias in self.axes else self._value(bias)
        later = None if value is None else np.triu(np.ones(value.shape[-2:], np.bool_), 1)
        if (
            value is None
            or value.shape[-2] == 1
            or value[..., later].max(initial=-np.inf) > _HIDDEN
        ):
            raise DecoderProblem(f"{node.origin or node.name}: its queries see later keys")

    def _of_text(self, node: Node, number: int, row: int, name: str) -> str:
        text = self.texts[number]
        query = self._part(self.made[node.inputs[0]], 2, row, text.rows)
        ring, passed = self._closed(node, text), 0
        attributes = {**node.attributes, "causal": True}
        if ring is None:
            passed = self._passed(node, text)
            attributes["first_query"] = text.context - passed
        else:
            attributes |= {"first_query": text.context % ring, "ring": ring}
        read = range(passed, ring or self._count(text))
        operands = [query, *(self._keys(each, number, row, read) for each in node.inputs[1:3])]
        if len(node.inputs) > 3:
            operands.append(self._bias(node, number))
        return self.builder.op("attention", *operands, name=name, **attributes)

    def _closed(self, node: Node, text: Text) -> int | None:
        """The places of the ring of keys that a text has filled; None: it is none, or not full."""
        ring = self.rings.get(held_by(self.reader, node.inputs[1])[0])
        if ring is None or text.context < ring.size:
            return None
        assert text.context % ring.size >= self.shorter, "a shorter text is in another round"
        return ring.size

    def _passed(self, node: Node, text: Text) -> int:
        """The keys before the windows of all queries of a text, which are not read."""
        window = node.attributes.get("window")
        if self.layout is None or window is None or len(node.inputs) > 3:
            return 0
        assert isinstance(window, int)
        passed = max(0, text.context - self.shorter - window + 1)
        # Numerators may be rounded by the numbers of their keys, modulo this.
        return passed // DITHER_COLUMNS * DITHER_COLUMNS

    def _part(self, name: str, axis: int, start: int, size: int) -> str:
        """Elements of an axis."""
        shape = list(self.builder.type(name).shape)
        starts = [0] * len(shape)
        starts[axis], shape[axis] = start, size
        steps = (1,) * len(shape)
        return self.builder.op("slice", name, starts=tuple(starts), sizes=tuple(shape), steps=steps)

    def _bias(self, node: Node, number: int) -> str:
        """What is added to the scores of a text."""
        bias, text = node.inputs[3], self.texts[number]
        if bias in self.axes:
            raise DecoderProblem(f"{node.origin or node.name}: its bias depends on the tokens")
        value, keys = self._value(bias), self._count(text)
        if value.shape[-1] == 1 and value.ndim < 2:
            return self._whole(bias)
        only = slice(number, number + 1)
        table = Table(value, value.ndim - 2, only, None if value.shape[-1] == 1 else keys)
        several = f" of text {number}" if len(self.texts) > 1 else ""
        return self._table(bias + several, value, table)

    def _count(self, text: Text) -> int:
        """The keys that a text's queries read."""
        return self.keys or text.keys

    def _keys(self, name: str, number: int, row: int, read: range) -> str:
        """Keys or values in these places of a text: (1, heads, keys, columns)."""
        if self.layout is None:
            return self._part(self.made[name], 2, row, self.texts[number].rows)
        source, views = held_by(self.reader, name)
        axis = self.axes[source]
        shape = self.builder.type(self.made[source]).shape
        order = (axis, *(each for each in range(len(shape)) if each != axis))
        count = len(read)
        held = self._held(source, order)
        found = self._part(held, 0, self.layout.first(number) + read.start, count)
        sizes = (count, *(shape[each] for each in order[1:]))
        found = self.builder.op("reshape", found, shape=sizes)
        back = tuple(order.index(each) for each in range(len(shape)))
        found = self.builder.op("transpose", found, permutation=back)
        for view in reversed(views):
            axis, _ = moved_axis(self.reader, view, {view.inputs[0]: axis})
            found = self.builder.op(view.op, found, **resized(view, axis, count))
        return found

    def _held(self, source: str, order: tuple[int, ...]) -> str:
        """The cache of a tensor's rows, behind the steps of all texts; tokens are `order`'s first.

        All texts read the same one.
        """
        assert self.layout is not None
        if source not in self.held:
            new = self.builder.op("transpose", self.made[source], permutation=order)
            kind, row = self.builder.type(new), 0
            cols = kind.size // self.rows
            new = self.builder.op("reshape", new, shape=(self.rows, cols))
            self.caches.append(f"cache of {source}")
            ring = self.rings.get(source)
            rows = self.layout.rows if ring is None else self.layout.ring_rows(ring.size)
            kind = TensorType(kind.dtype, (rows, cols))
            held = self.builder.input(self.caches[-1], kind)
            for number, text in enumerate(self.texts):
                part = self._part(new, 0, row, text.rows)
                place = text.context if ring is None else text.context % ring.size
                first = self.layout.first(number) + place
                held = self.builder.op("cache", held, part, first=first)
                row += text.rows
            self.held[source] = held
        return self.held[source]
