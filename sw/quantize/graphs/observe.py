"""Calibration: the values of a float graph on samples, as rows to choose formats by."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Final

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array, GraphError
from celosia.sw.frontend.recognize.prove import HIDDEN
from celosia.sw.ir.graph import View
from celosia.sw.ir.graphs.finishes import visible_columns
from celosia.sw.quantize.caps import CapFit, attribute
from celosia.sw.quantize.ranges import ScoreRange
from celosia.sw.quantize.units.units import Attention
from celosia.sw.quantize.units.values import Value
from celosia.sw.reference.encoder import Floats

__all__ = ["Observed", "SeenAttention", "Watched", "fit_caps", "observe", "raised"]

_ROWS: Final = 4096
"""The most rows of a value that are kept of all samples together."""
_SEED: Final = 0xCA11
_VANISHING: Final = 1e-25
"""Values that are all smaller are 0: their steps would be no float32."""


class Observed:
    """Rows of each value, `most` of each sample, and its largest magnitude.

    Tokens that a mask hides do not count.
    """

    def __init__(self, values: Iterable[Value], most: int):
        self._values: dict[str, list[Value]] = {}
        for value in values:
            self._values.setdefault(value.tensor, []).append(value)
        self._most = most
        self._rows: dict[str, list[Floats]] = {}
        self._whole: dict[str, Floats] = {}
        self._tops: dict[str, Floats] = {}
        self.said: dict[str, tuple[float, float]] = {}
        """The ranges of tensors that somebody else has chosen."""
        self.scores: dict[str, ScoreRange] = {}
        """How far scores reach, by the tensors of attention."""
        self.shown: Array | None = None
        """Which tokens of the sample count, all texts below each other."""

    def take(self, sample: int, name: str, array: Array) -> None:
        """Keep rows of a tensor.

        Raises `GraphError` if it is not finite, or has other columns than in a sample before.
        """
        for value in self._values.get(name, ()):
            matrix = value.matrix(array).astype(np.float32)
            with np.errstate(invalid="ignore"):  # Infinities that cancel: the sum is NaN then.
                total = matrix.sum(dtype=np.float64)
            if not np.isfinite(total):
                raise GraphError(f"{name}: it is not finite in sample {sample} of the calibration")
            if self.shown is not None and len(matrix) == len(self.shown):
                matrix = matrix[self.shown]
            tops = np.abs(matrix).max(axis=0, initial=0)
            if tops.max(initial=0) < _VANISHING:
                matrix, tops = np.zeros_like(matrix), np.zeros_like(tops)
            known = self._tops.get(value.key)
            if known is not None and known.size != tops.size:
                raise GraphError(
                    f"{name}: it has {tops.size} columns in sample {sample} of the calibration, "
                    f"and {known.size} before: calibrate on samples of one size"
                )
            self._tops[value.key] = tops if known is None else np.maximum(known, tops)
            if len(matrix) > self._most:
                random = np.random.default_rng((_SEED, sample))
                matrix = matrix[random.choice(len(matrix), self._most, replace=False)]
            self._rows.setdefault(value.key, []).append(matrix)

    def rows(self, key: str) -> Floats:
        """The rows of a value that were kept."""
        if key not in self._whole:
            self._whole[key] = np.concatenate(self._rows.pop(key))
        return self._whole[key]

    def tops(self, key: str) -> Floats:
        """The largest magnitude of any element of each column of a value."""
        return self._tops[key]


@dataclass(frozen=True, eq=False)
class SeenAttention:
    """An attention, whose scores are inside of one operator, and the values by their keys."""

    unit: Attention
    values: Mapping[str, Value]

    @property
    def tensors(self) -> set[str]:
        """The tensors that its scores depend on, and what they weigh."""
        heads = (head for text in self.unit.heads for head in text)
        views = ((head.query, head.key, head.value, head.onto) for head in heads)
        names = {self.values[view.tensor].tensor for view in chain(*views) if view}
        return names | ({self.unit.keys} if self.unit.keys else set())

    def scores(self, tensors: Mapping[str, Array]) -> Iterator[tuple[Array, Array]]:
        """Scores of each head (rows x keys), -inf where a key is hidden, and the values of keys."""
        for products, added, values in self.heads(tensors):
            yield products + added, values

    def heads(self, tensors: Mapping[str, Array]) -> Iterator[tuple[Array, Array, Array]]:
        """Products of each head (rows x keys) in their scale, what is added, and keys' values.

        What is added is -inf where a key is hidden.
        """
        matrices: dict[str, Array] = {}

        def read(view: View) -> Array:
            if view.tensor not in matrices:
                value = self.values[view.tensor]
                matrices[view.tensor] = value.matrix(np.asarray(tensors[value.tensor]))
            return matrices[view.tensor][view.slices].astype(np.float32)

        counts = None
        if self.unit.keys:
            counts = np.asarray(tensors[self.unit.keys]).reshape(-1)
        for text, heads in enumerate(self.unit.heads):
            keys = None if counts is None else int(counts[text if counts.size > 1 else 0])
            for head in heads:
                products = read(head.query) @ read(head.key).T * self.unit.scale_of(head)
                added = np.zeros((1, head.key.rows), np.float32)
                if head.onto is not None:
                    added = raised(read(head.onto), head.key.rows)
                visible = visible_columns(replace(head.mask, keys=keys), products)
                added = added if visible is None else np.where(visible, added, np.float32(-np.inf))
                yield products, added, read(head.value)


def raised(matrix: Array, keys: int) -> Array:
    """What is added to scores, for heads of so many keys, without what all keys of a row have.

    A softmax does not see it, but it would leave nothing of integer scores.
    """
    heads = matrix.reshape(len(matrix), -1, keys)
    highest = heads.max(axis=2, keepdims=True)
    shared = np.where((highest <= HIDDEN) & (highest > -np.inf), highest, 0)
    return (heads - shared).reshape(matrix.shape)


@dataclass(frozen=True, eq=False)
class Watched:
    """A graph whose values are looked at."""

    graph: FloatGraph
    masks: Sequence[str]
    """Inputs that say which tokens count."""
    attentions: Sequence[SeenAttention]
    """Attentions whose scores are looked at, too."""


def observe(
    values: Iterable[Value],
    samples: Sequence[tuple[Watched, Mapping[str, Array]]],
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Observed:
    """What `values` are on `samples`: a graph of some sizes, and its inputs by name.

    Raises `GraphError` for inputs that do not fit, for a value that is not finite, and for one
    whose columns are others in another sample.
    """
    seen = Observed(values, max(1, _ROWS // max(len(samples), 1)))
    for number, (watched, sample) in enumerate(samples):
        graph, masks = watched.graph, watched.masks
        wanted = {name for attention in watched.attentions for name in attention.tensors}
        seen.shown = np.asarray(sample[masks[0]]).reshape(-1) != 0 if len(masks) == 1 else None
        for name, array in (*graph.constants.items(), *sample.items()):
            seen.take(number, name, np.asarray(array))
        tensors = {**graph.constants, **sample}
        interpret(graph, sample, partial(_take, seen, number, wanted, tensors))
        for attention in watched.attentions:
            found = seen.scores.setdefault(attention.unit.value.tensor, ScoreRange())
            for scores, weighed in attention.scores(tensors):
                found.take(scores, weighed)
        progress(number + 1, len(samples))
    return seen


def fit_caps(samples: Sequence[tuple[Watched, Mapping[str, Array]]]) -> dict[str, CapFit]:
    """The fit of each attention whose graph has a cap, by its tensor: of graphs and their inputs.

    The attentions of each graph are watched without their caps.  Raises `GraphError` for inputs
    that do not fit.
    """
    found: dict[str, CapFit] = {}
    for watched, sample in samples:
        nodes = watched.graph.producers()
        attentions = {name: seen for seen in watched.attentions for name in seen.unit.nodes}
        capped = {
            name: seen for name, seen in attentions.items() if "cap" in nodes[name].attributes
        }
        if not capped:
            continue
        tensors = {**watched.graph.constants, **sample}
        interpret(watched.graph, sample, tensors.__setitem__)
        for name, seen in capped.items():
            fit = found.setdefault(name, CapFit(attribute(nodes[name], "cap")))
            for scores, added, _ in seen.heads(tensors):
                fit.take(scores, added)
    return found


def _take(
    seen: Observed,
    number: int,
    wanted: Collection[str],
    kept: dict[str, Array],
    name: str,
    value: Array,
) -> None:
    """Show a tensor of sample `number`, and keep it if it is `wanted`."""
    seen.take(number, name, value)
    if name in wanted:
        kept[name] = value
