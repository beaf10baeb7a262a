"""Quantized models: integer graphs of segments, and what the host computes between them."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.interpret import compute
from celosia.sw.frontend.nn.operators.operator import Array, GraphError, Reach, TensorType
from celosia.sw.frontend.nn.operators.table import OPERATORS
from celosia.sw.frontend.recognize.masks import is_right_padded
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.ir import graph_interpret
from celosia.sw.ir.graph import Graph, View
from celosia.sw.passes.clipped_scores import clipped_scores
from celosia.sw.quantize.graphs.emit import emit_segments
from celosia.sw.quantize.graphs.formats import Format, Formats
from celosia.sw.quantize.graphs.masks import ForMasks, Sight, for_masks
from celosia.sw.quantize.graphs.observe import raised
from celosia.sw.quantize.units.segments import Segment, plan_segments
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.units.units import Append, Attention, Units
from celosia.sw.quantize.units.values import Form, Value

__all__ = [
    "Execution",
    "QuantizedGraph",
    "Result",
    "SegmentRunner",
    "added_to_scores",
    "check_inputs",
    "check_types",
    "instantiate",
    "interpreted",
    "padded_masks",
    "run_model",
]

SegmentRunner = Callable[[int, Graph, Mapping[str, Array]], Mapping[str, Array]]
"""Computes a segment, by its number: the graph's inputs in, its tensors by name out."""

_ADDS: Final = ("add", "where")
"""Operators whose operands hide keys as their results do."""
_UNCOUNTED: Final = ("numerators", "sums", "halves", "below")
"""Tensors whose largest number is ordinary."""


@dataclass(frozen=True, eq=False, kw_only=True)
class QuantizedGraph:
    """A model as segments of integers, with what the host does before each and behind the last."""

    name: str
    inputs: Mapping[str, TensorType]
    outputs: Mapping[str, str]
    """The tensor that each output is."""
    constants: Mapping[str, Array]
    """The constants that the host reads."""
    host: tuple[tuple[Node, ...], ...]
    converted: Mapping[Form, int]
    """The forms that the host makes, and the segment before which it does."""
    segments: tuple[Segment, ...]
    values: Mapping[str, Value]
    types: Mapping[str, TensorType]
    """The types of the values' tensors."""
    formats: Mapping[Form, Format]
    reads: Mapping[str, Form]
    """The form that the host reads of each tensor that a segment computes."""
    masks: tuple[str, ...]
    """Inputs whose rows must be 1s and then 0s."""
    notes: tuple[str, ...] = ()
    """What calibration has found that costs accuracy."""
    apart: frozenset[str] = frozenset()
    """The tensors that the host puts together because of their accuracy."""
    caps: Mapping[str, float] = field(default_factory=dict)
    """What scores are multiplied by instead of a tanh, by the tensors of attention."""

    @property
    def onto(self) -> frozenset[str]:
        """What is added to scores depends on these tensors."""
        return added_to_scores(self.values, [node for level in self.host for node in level])

    @property
    def host_operators(self) -> Counter[str]:
        """How many operators of each kind the host computes."""
        return Counter(node.op for level in self.host for node in level)


@dataclass(frozen=True, eq=False)
class Result:
    """What a run has computed."""

    outputs: dict[str, Array]
    saturated: Counter[str] = field(default_factory=Counter)
    """How many elements of each tensor are at the end of their type's range, or were clipped."""
    clipped: Counter[str] = field(default_factory=Counter)
    """How many visible scores of each attention have another weight because scores saturate."""
    blind: Counter[tuple[str, Sight]] = field(default_factory=Counter)
    """How many rows of scores see no key, or hidden ones only, in all heads of the file's nodes."""


def instantiate(
    graph: FloatGraph, formats: Formats, *, named: bool = False, moving: bool = False
) -> QuantizedGraph:
    """A graph behind `recognize` in integers: `formats` may be those of graphs of other sizes.

    Integer graphs are `named` after nodes' origins if no two of their units have the same.  With
    `moving`, programs of them can be patched for other first rows of causal masks (`Mask.moving`).
    Caches are no inputs of the model: what runs its segments has them.

    Raises `GraphError` for a graph that `formats` are not of, and for a norm whose factors do not
    fit their integers.
    """
    units = units_of(
        graph,
        formats.apart,
        formats.caps,
        per_tensor=formats.per_tensor,
        wide=formats.int16_operands,
    )
    segments = plan_segments(graph, units, formats.sums)
    try:
        emitted, forms = emit_segments(segments, formats, named=named, moving=moving)
    except ValueError as error:
        raise GraphError(f"{graph.name}: {error}") from None
    host_names = {name for level in segments.host for node in level for name in node.inputs}
    host_names |= {value.tensor for value in units.values.values()} | set(graph.outputs.values())
    types, caches = graph.types(), {unit.cache for unit in units.of(Append)}
    return QuantizedGraph(
        name=graph.name,
        inputs={name: kind for name, kind in graph.inputs.items() if name not in caches},
        outputs=graph.outputs,
        constants={name: v for name, v in graph.constants.items() if name in host_names},
        host=segments.host,
        converted=segments.converted,
        segments=tuple(emitted),
        values=units.values,
        types={value.tensor: types[value.tensor] for value in units.values.values()},
        formats=forms,
        reads={name: segments.host_form(name) for name in segments.segment_of},
        masks=tuple(sorted(set(padded_masks(graph, units)))),
        notes=formats.notes,
        apart=formats.apart,
        caps=formats.caps,
    )


def padded_masks(graph: FloatGraph, units: Units) -> Iterator[str]:
    """The inputs of two axes that keys are counted in: 1s and then 0s in each row."""
    reader = Reader(graph)
    for unit in units.of(Attention):
        if unit.keys:
            for name in reader.origins(unit.keys):
                if graph.inputs[name].rank == 2:
                    yield name


def interpreted(number: int, graph: Graph, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
    """A segment by the integer graph's interpreter."""
    del number
    return graph_interpret.interpret(graph, inputs)


class Execution:
    """One run of a quantized model: segment by segment.

    To `count` what was clipped, segments have to give all their tensors, not only outputs.
    """

    def __init__(self, model: QuantizedGraph, inputs: Mapping[str, Array], *, count: bool = True):
        self.model, self.count = model, count
        self.values: dict[str, Array] = {
            **model.constants,
            **check_inputs(model.inputs, model.masks, inputs, model.onto),
        }
        self.forms: dict[Form, Array] = {}
        self.saturated: Counter[str] = Counter()
        self.clipped: Counter[str] = Counter()
        self.blind: Counter[tuple[str, Sight]] = Counter()

    def run(self, segment: SegmentRunner) -> Result:
        """The outputs; `segment` computes the segments."""
        for number in range(len(self.model.segments)):
            graph, inputs = self.begin(number)
            self.end(number, graph, segment(number, graph, inputs))
        self._host(len(self.model.segments))
        outputs = {name: self._read(tensor) for name, tensor in self.model.outputs.items()}
        return Result(outputs, +self.saturated, +self.clipped, self.blind)

    def begin(self, number: int) -> tuple[Graph, dict[str, Array]]:
        """The integer graph of a segment for this run's masks, and its inputs.

        All segments before it have ended; the host computes what is between.
        """
        self._host(number)
        self._convert(number)
        segment, made = self.model.segments[number], self.graph(number)
        for (name, sight), rows in made.rows.items():
            if sight != Sight.SOME:
                self.blind[segment.node(name), sight] += rows
        return made.graph, {name: self.forms[form] for name, form in segment.inputs.items()}

    def end(self, number: int, graph: Graph, found: Mapping[str, Array]) -> None:
        """Take what was `found` of a segment, whose `graph` is as it began."""
        for name, form in self.model.segments[number].outputs.items():
            # Columns behind the last one fill bursts.
            self.forms[form] = found[name][:, : self.model.formats[form].steps.size]
        if self.count:
            self._count_clipped(number, graph, found)

    def _host(self, number: int) -> None:
        """Compute what the host does before a segment, or behind the last one."""
        for node in self.model.host[number]:
            self.values[node.name] = compute(node, [self._read(x) for x in node.inputs])

    def graph(self, number: int) -> ForMasks:
        """The integer graph of a segment for this run's masks."""
        segment = self.model.segments[number]
        counts = {keys: self._count(*keys) for keys in set(segment.keys.values())}
        matrices: dict[str, Array] = {}

        def added(view: View) -> Array:
            if view.tensor not in matrices:
                value = self.model.values[segment.inputs[view.tensor].key]
                matrices[view.tensor] = value.matrix(self._read(value.tensor))
            return matrices[view.tensor][view.slices]

        return for_masks(segment, counts, added)

    def _count_clipped(self, number: int, graph: Graph, found: Mapping[str, Array]) -> None:
        """Count the elements of a segment that are at the ends of their ranges."""
        segment = self.model.segments[number]
        for name, value in found.items():
            if value.dtype.itemsize < 4 and name.split(".")[1] not in _UNCOUNTED:
                node = segment.node(name)
                self.saturated[node] += _at_the_end(value)
        for name, count in clipped_scores(graph, found).items():
            self.clipped[segment.node(name)] += count

    def _count(self, tensor: str, text: int) -> int:
        counts = self._read(tensor).reshape(-1)
        return int(counts[text if counts.size > 1 else 0])

    def _convert(self, number: int) -> None:
        for form, level in self.model.converted.items():
            if level == number:
                value = self.model.values[form.key]
                matrix = value.matrix(self._read(value.tensor))
                if form.role == "onto":
                    matrix = raised(matrix, self.model.types[value.tensor].shape[-1])
                found, clipped = self.model.formats[form].integers(matrix)
                self.forms[form] = np.ascontiguousarray(found)
                if form.role != "onto":  # What hides a key is as low as can be.
                    self.saturated[f"{form.key} to {found.dtype}"] += clipped

    def _read(self, name: str) -> Array:
        """A tensor as the host sees it."""
        if name not in self.values:
            form = self.model.reads[name]
            matrix = self.model.formats[form].numbers(self.forms[form])
            self.values[name] = self.model.values[form.key].tensor_of(
                matrix, self.model.types[name]
            )
        return self.values[name]


def run_model(
    model: QuantizedGraph,
    inputs: Mapping[str, Array],
    segment: SegmentRunner = interpreted,
    *,
    count: bool = True,
) -> Result:
    """The outputs of a model, and unless `count` is false, what was at the ends of its range.

    Raises `GraphError` for inputs that do not fit.
    """
    return Execution(model, inputs, count=count).run(segment)


def check_types(types: Mapping[str, TensorType], found: Mapping[str, TensorType]) -> None:
    """Raise `GraphError` where inputs that are `found` are not those of `types`.

    Numbers may be narrower than they should be, but not of another kind.
    """
    names = ", ".join(types)
    for name in found:
        if name not in types:
            raise GraphError(f"{name}: there is no such input; there are {names}")
    for name, kind in types.items():
        if name not in found:
            raise GraphError(f"{name}: this input is missing; there are {names}")
        mine, wanted = np.dtype(found[name].dtype), np.dtype(kind.dtype)
        same = mine == wanted or (mine.kind == wanted.kind and np.can_cast(mine, wanted))
        if not same or found[name].shape != kind.shape:
            raise GraphError(f"{name}: this input is {found[name]}, not {kind}")


def added_to_scores(values: Mapping[str, Value], nodes: Sequence[Node]) -> frozenset[str]:
    """The tensors that what is added to scores is made from, by `nodes` of the host.

    Scores of a softmax of the host are sums of such tensors, too.
    """
    found = {value.tensor for value in values.values() if value.scores}
    summed: set[str] = set()
    for node in reversed(nodes):
        if node.name in found:
            found.update(node.inputs)
        adds = node.op in _ADDS or OPERATORS[node.op].reach in {Reach.VIEW, Reach.COPY}
        if node.op == "softmax" or (node.name in summed and adds):
            summed.update(node.inputs)
    return frozenset(found | summed)


def check_inputs(
    types: Mapping[str, TensorType],
    masks: Sequence[str],
    inputs: Mapping[str, Array],
    onto: Collection[str] = (),
) -> dict[str, Array]:
    """The `inputs`, of these `types`: narrower numbers of the same kind are widened.

    Raises `GraphError` for names, types and shapes that do not fit, for numbers that are not
    finite, and for masks that are not padded on the right.  What is added to scores is made from
    `onto`: minus infinity hides a key there.
    """
    given = {name: np.asarray(array) for name, array in inputs.items()}
    check_types(types, {name: TensorType.of(array) for name, array in given.items()})
    arrays = {name: given[name].astype(kind.dtype, copy=False) for name, kind in types.items()}
    for name, kind in types.items():
        if kind.is_float:
            _check_finite(name, arrays[name], lowest=name in onto)
    for name in masks:
        if not is_right_padded(arrays[name]):
            raise GraphError(
                f"{name}: its rows must be 1s, one at least, and then 0s; for masks of other forms "
                "calibrate with such"
            )
    return arrays


def _check_finite(name: str, array: Array, *, lowest: bool) -> None:
    """Raise `GraphError` for NaN, and for infinity; with `lowest`, minus infinity is a number."""
    nans, infinite = np.isnan(array), np.isposinf(array) if lowest else np.isinf(array)
    for found, what in ((nans, "NaN"), (infinite, "infinity")):
        if count := np.count_nonzero(found):
            place = tuple(map(int, np.argwhere(found)[0]))
            raise GraphError(
                f"{name}: {what} in {count:,} of its {array.size:,} elements, first at {place}"
            )


def _at_the_end(value: Array) -> int:
    info = np.iinfo(value.dtype)
    least = info.min if info.min == 0 else -info.max
    ends = value == info.max if least == 0 else (value == info.max) | (value <= least)
    return int(np.count_nonzero(ends))
