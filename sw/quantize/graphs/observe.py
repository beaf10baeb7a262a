"""Calibration: the values of a float graph on samples, as rows to choose formats by."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array, GraphError
from celosia.sw.quantize.graphs.units import Value
from celosia.sw.reference.encoder import Floats

__all__ = ["Observed", "observe"]

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
        self.shown: Array | None = None
        """Which tokens of the sample count, all texts below each other."""

    def take(self, sample: int, name: str, array: Array) -> None:
        """Keep rows of a tensor.  Raises `GraphError` if it is not finite."""
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


def observe(
    graph: FloatGraph,
    values: Iterable[Value],
    samples: Sequence[Mapping[str, Array]],
    masks: Sequence[str] = (),
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Observed:
    """What `values` are on `samples`, each the inputs of `graph` by name; `masks` are inputs, too.

    Raises `GraphError` for inputs that do not fit, and for a value that is not finite.
    """
    seen = Observed(values, max(1, _ROWS // max(len(samples), 1)))
    for number, sample in enumerate(samples):
        seen.shown = np.asarray(sample[masks[0]]).reshape(-1) != 0 if len(masks) == 1 else None
        for name, array in (*graph.constants.items(), *sample.items()):
            seen.take(number, name, np.asarray(array))
        interpret(graph, sample, lambda name, value, number=number: seen.take(number, name, value))
        progress(number + 1, len(samples))
    return seen
