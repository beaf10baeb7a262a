"""Proves by numbers that a replacement computes what a part of a graph computes.

Both are evaluated in float64 on drawn operands, so that a wrong epsilon of a norm shows: rows are
of scale 1e-3, 1 and 30, constant, and zero.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array, GraphError, TensorType
from celosia.sw.frontend.recognize.reader import Reader

__all__ = [
    "HIDDEN",
    "Build",
    "Probe",
    "difference",
    "long_rows",
    "or_hidden",
    "ordinary_rows",
    "rows_of_all_scales",
    "seen_somewhere",
    "uneven_rows",
    "widened",
    "worst",
]

Build = Callable[[GraphBuilder, Sequence[str]], str]
"""Makes a tensor from operands in a graph that is being built."""
Probe = Callable[[np.random.Generator, TensorType], Array]
"""Draws an operand of this type."""

TOLERANCE: Final = 1e-6
"""The largest difference in a row, relative to the row's largest element."""
FLOOR: Final = 1e-9
"""The same relative to the largest element of all rows."""
HIDDEN: Final = -1e4
"""A score or a bias from here down is as good as minus infinity."""
_ROUNDS: Final = 2
_SCALES: Final = (1e-3, 1.0, 30.0)


def difference(
    reader: Reader,
    root: str,
    operands: Sequence[str],
    build: Build,
    probes: Mapping[int, Probe],
) -> str | None:
    """Where the replacement differs from what it is to replace; None if it does not.

    Operands are independent numbers.  Where that shows a difference, and some operands compute
    another one (values that are a view of the keys), that one is not drawn, but computed.
    """
    reason = _difference(reader, root, operands, operands, build, probes)
    given = reader.given(operands) if reason is not None else operands
    if len(given) == len(set(operands)):
        return reason
    return _difference(reader, root, operands, given, build, probes)


def _difference(
    reader: Reader,
    root: str,
    operands: Sequence[str],
    given: Sequence[str],
    build: Build,
    probes: Mapping[int, Probe],
) -> str | None:
    try:
        before = _before(reader, root, operands, given)
        after = _after(reader, operands, given, build)
    except KeyError as error:
        return f"it depends on {error.args[0]}, too"
    except GraphError as error:
        return f"it has no replacement: {error}"
    kinds = before.types()[before.outputs["root"]], after.types()[after.outputs["root"]]
    if kinds[0] != kinds[1]:
        return f"its replacement is {kinds[1]}, not {kinds[0]}"
    for seed in range(_ROUNDS):
        random = np.random.default_rng(seed)
        inputs = {}
        for index, name in enumerate(operands):
            kind = before.inputs.get(f"operand{index}")
            if kind is not None:
                # One tensor may be several operands, and each may ask for tamer numbers.
                same = [probes[other] for other in probes if operands[other] == name]
                probe = same[0] if same else rows_of_all_scales
                inputs[f"operand{index}"] = probe(random, kind)
        expected, found = (interpret(graph, inputs)["root"] for graph in (before, after))
        reason = worst(expected, found)
        if reason is not None:
            return reason
    return None


def rows_of_all_scales(random: np.random.Generator, kind: TensorType) -> Array:
    """Rows of scale 1e-3, 1 and 30, a constant one, and one of zeros, again and again."""
    return _scaled_rows(ordinary_rows(random, kind), kind, (1.5, 0.0))


def uneven_rows(random: np.random.Generator, kind: TensorType) -> Array:
    """Rows of scale 1e-3, 1 and 30: none of a spread or a length of 0, by which no row divides."""
    return _scaled_rows(ordinary_rows(random, kind), kind, ())


def long_rows(random: np.random.Generator, kind: TensorType) -> Array:
    """Rows of scale 30, beside which what is added to their size is nothing, or constant ones."""
    return _scaled_rows(ordinary_rows(random, kind), kind, (1.5, 0.0), _SCALES[-1:])


def _scaled_rows(
    drawn: Array, kind: TensorType, even: Sequence[float], scales: Sequence[float] = _SCALES
) -> Array:
    """`drawn` by the scales, and rows of each of these numbers behind them, again and again."""
    if not kind.is_float or not drawn.size:
        return drawn
    rows = drawn.reshape(-1, kind.shape[-1] if kind.rank else 1)
    numbers = np.arange(len(rows)) % (len(scales) + len(even))
    for index, scale in enumerate(scales):
        rows[numbers == index] *= scale
    for index, number in enumerate(even, len(scales)):
        rows[numbers == index] = number
    return drawn


def ordinary_rows(random: np.random.Generator, kind: TensorType) -> Array:
    """Normal numbers, bools by chance, or the integers 0 and 1."""
    shape = kind.shape
    drawn = random.standard_normal(shape) if kind.is_float else random.integers(0, 2, shape)
    return np.asarray(drawn, kind.dtype)  # A scalar is drawn as a number, not as an array.


def seen_somewhere(random: np.random.Generator, kind: TensorType) -> Array:
    """Bools of which the first one of each row holds: a query sees a key at least."""
    drawn = ordinary_rows(random, kind)
    drawn[(..., slice(1)) if kind.rank else ()] = True
    return drawn


def or_hidden(probe: Probe) -> Probe:
    """What `probe` draws, but one row of three shows no key, and one the last, but not the first.

    False hides a key, and so does minus infinity.
    """

    def drawn(random: np.random.Generator, kind: TensorType) -> Array:
        found = probe(random, kind)
        rows = found.reshape(-1, kind.shape[-1] if kind.rank else 1)
        hides, shows = (-np.inf, 0) if kind.is_float else (0, 1)
        rows[1::3, :1], rows[1::3, -1:] = hides, shows
        rows[::3] = hides
        return found

    return drawn


def widened(graph: FloatGraph) -> FloatGraph:
    """A whole graph in float64, whose inputs and outputs have their names."""
    names = tuple(graph.inputs)
    wide = _Wide(Reader(graph), names, names, graph.name, names)
    outputs = {name: wide.tensor(tensor) for name, tensor in graph.outputs.items()}
    return wide.builder.finish(outputs)


def worst(expected: Array, found: Array) -> str | None:
    """The row in which two tensors of the same shape differ by more than proofs permit.

    Elements that are no float must be equal.  None: there is no such row.
    """
    if expected.size == 0 or expected.dtype.kind != "f":
        return None if np.array_equal(expected, found) else "numbers show that it is none"
    if not (np.isfinite(expected).all() and np.isfinite(found).all()):
        return "it is not finite on probes"
    rows = expected.reshape(-1, expected.shape[-1] if expected.ndim else 1)
    errors = np.abs(rows - found.reshape(rows.shape)).max(axis=1)
    limits = TOLERANCE * np.abs(rows).max(axis=1) + FLOOR * np.abs(rows).max()
    row = int(np.argmax(errors - limits))
    if errors[row] <= limits[row]:
        return None
    size = np.abs(rows[row]).max()
    return f"numbers show that it is none: {errors[row]:.2g} apart in a row of up to {size:.2g}"


class _Wide:
    """A part of a graph in float64, in the making; operands that are `given` are its inputs."""

    def __init__(
        self,
        reader: Reader,
        operands: Sequence[str],
        given: Sequence[str],
        name: str,
        called: Sequence[str] = (),
    ):
        """Inputs are `called` so, or by the numbers of the operands."""
        self.reader, self.given, self.builder = reader, given, GraphBuilder(name)
        self.new: dict[str, str] = {}
        for index, each in enumerate(operands):
            if each in given and each not in self.new and reader.value(each) is None:
                kind = reader.type(each)
                wide = TensorType("float64" if kind.is_float else kind.dtype, kind.shape)
                name = called[index] if called else f"operand{index}"
                self.new[each] = self.builder.input(name, wide)

    def tensor(self, name: str) -> str:
        """A tensor of the graph, computed from what is given."""
        for node in self.reader.between(name, self.given):
            if node.name not in self.new:
                inputs = [self._known(each) for each in node.inputs]
                attributes = _wide_attributes(node)
                self.new[node.name] = self.builder.op(node.op, *inputs, **attributes)
        return self._known(name)

    def _known(self, name: str) -> str:
        if name not in self.new:
            value = self.reader.value(name)
            assert value is not None
            self.new[name] = self.builder.constant(_wide_value(value))
        return self.new[name]


def _before(reader: Reader, root: str, operands: Sequence[str], given: Sequence[str]) -> FloatGraph:
    wide = _Wide(reader, operands, given, "before")
    return wide.builder.finish({"root": wide.tensor(root)})


def _after(
    reader: Reader, operands: Sequence[str], given: Sequence[str], build: Build
) -> FloatGraph:
    wide = _Wide(reader, operands, given, "after")
    found = [wide.tensor(name) for name in operands]
    return wide.builder.finish({"root": build(wide.builder, found)})


def _wide_value(value: Array) -> Array:
    return value.astype(np.float64) if value.dtype.kind == "f" else value


def _wide_attributes(node: Node) -> dict[str, Any]:
    attributes = dict(node.attributes)
    if node.op == "cast" and attributes["to"] == "float32":
        attributes["to"] = "float64"
    return attributes
