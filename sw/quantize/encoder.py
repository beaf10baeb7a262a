"""An encoder quantized after training, layer by layer, on the activations of calibration texts."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.numerics import CONTEXT_FRACTION_BITS, GELU_FRACTION_BITS, GELU_SCALE
from celosia.sw.quantize.checks import check_finite
from celosia.sw.quantize.curves import center
from celosia.sw.quantize.linear import quantize_linear
from celosia.sw.quantize.model import IntegerEncoder, verify
from celosia.sw.quantize.norm import quantize_norm
from celosia.sw.quantize.ranges import best_step, int16_step, sample_rows
from celosia.sw.quantize.smooth import Smoothing, choose_smoothing, smoothing_factors
from celosia.sw.quantize.spread import spread_outliers
from celosia.sw.quantize.tables import quantize_tables, table_step
from celosia.sw.reference.embedding import Embeddings
from celosia.sw.reference.encoder import EncoderWeights, Floats, LayerWeights, Norm, encode

__all__ = ["Progress", "quantize_encoder"]

Progress = Callable[[int, int], object]
"""Told the layers done so far, and their number."""

_VALUE_STRENGTH: Final = 0.5
"""The strength of the smoothing of V."""
_ROWS: Final = 2048
"""The most rows of an activation that the search of a range looks at."""
_SCORE_FRACTION_BITS: Final = 10


def quantize_encoder(
    weights: EncoderWeights,
    x: Floats,
    lengths: Sequence[int],
    *,
    embeddings: Embeddings | None = None,
    progress: Progress = lambda done, total: None,
) -> IntegerEncoder:
    """`weights` as integers, calibrated on `x`: the sums of embeddings of texts of `lengths`.

    With `embeddings`, the model has their tables, and their sums never saturate.  Raises
    `ValueError` for weights, tables or activations that are not finite.
    """
    check_finite(weights, embeddings, x)
    arrays = {}
    step = int16_step(x)
    if embeddings is not None:
        step = table_step(embeddings)
        arrays |= quantize_tables(embeddings, step)
    arrays["embedding.step"] = np.array(step, np.float32)
    builder = _Builder(weights, arrays, progress)
    encode(weights, x, lengths, builder.observe)
    return verify(IntegerEncoder(weights.shape, arrays))


class _Builder:
    """Turns each layer into integers when all of its activations have been seen."""

    def __init__(
        self, weights: EncoderWeights, arrays: dict[str, NDArray[Any]], progress: Progress
    ):
        self.weights = weights
        self.arrays = arrays
        self.progress = progress
        self.seen: dict[str, Floats] = {}
        self.norm: tuple[str, Norm] = ("norm", weights.norm)
        """The normalization whose output comes next, and its name."""

    def observe(self, name: str, value: Floats) -> None:
        index, _, site = name.rpartition(".")
        if name == "output":
            self._finish_norm(name, value, None)
        elif site != "embedding":
            self.seen[site] = value
            if site == "sum":
                self._take_layer(int(index))

    def _take_layer(self, index: int) -> None:
        layer, prefix = self.weights.layers[index], f"layers.{index}."
        self._attention(layer, prefix)
        self.norm = (f"{prefix}attention_norm", layer.attention_norm)
        self._feed_forward(layer, prefix)
        self.norm = (f"{prefix}norm", layer.norm)
        self.seen.clear()
        self.progress(index + 1, self.weights.shape.layers)

    def _attention(self, layer: LayerWeights, prefix: str) -> None:
        seen, shape = self.seen, self.weights.shape
        three = np.concatenate(
            [layer.query.weights, layer.key.weights, layer.value.weights], axis=1
        )
        smoothing = choose_smoothing(seen["input"], three)
        input_step = self._finish_norm(f"{prefix}input", seen["input"], smoothing)
        ranges = np.abs(seen["value"]).max(axis=0)
        factors = smoothing_factors(ranges, layer.output.weights, _VALUE_STRENGTH)
        query, key, value, context = (
            best_step(sample_rows(seen[name], _ROWS) / divisors)
            for name, divisors in (
                ("query", np.float32(1)),
                ("key", np.float32(1)),
                ("value", factors),
                ("context", factors),
            )
        )
        for name, linear, out_steps in (
            ("query", layer.query, query),
            ("key", layer.key, key),
            ("value", layer.value, value * factors),
        ):
            self._store(prefix, quantize_linear(linear, smoothing.steps).arrays(name, out_steps))
        score = query * key / np.sqrt(shape.head_width) * 2**_SCORE_FRACTION_BITS
        self._scalars(prefix, {"query.step": query, "key.step": key, "scores.scale": score})
        self._scalars(prefix, {"context.scale": value / context / 2**CONTEXT_FRACTION_BITS})
        step = self._sum(prefix, "attention_sum", "output", input_step)
        output = quantize_linear(layer.output, context * factors)
        self._store(prefix, output.arrays("output", step))

    def _feed_forward(self, layer: LayerWeights, prefix: str) -> None:
        seen = self.seen
        spread = spread_outliers(layer.up, layer.down, seen["hidden"])
        smoothing = choose_smoothing(seen["attention"], spread.up.weights)
        attention_step = self._finish_norm(f"{prefix}attention", seen["attention"], smoothing)
        up = quantize_linear(spread.up, smoothing.steps)
        self._store(prefix, up.arrays("up", 2.0**-GELU_FRACTION_BITS))
        hidden = spread.range
        self._scalars(prefix, {"hidden.step": hidden.step})
        self._scalars(prefix, {"hidden.scale": GELU_SCALE / hidden.step})
        self.arrays[f"{prefix}hidden.zero_point"] = np.array(hidden.zero_point, np.int32)
        step = self._sum(prefix, "sum", "down", attention_step)
        centered = center(spread, layer.down, seen["up"], seen["hidden"])
        down = quantize_linear(centered, hidden.step, hidden.zero_point)
        self._store(prefix, down.arrays("down", step))

    def _finish_norm(self, name: str, value: Floats, smoothing: Smoothing | None) -> float:
        """The last normalization, whose output `value` is called `name`; returns its wide step."""
        step = int16_step(value)
        self._scalars("", {f"{name}.step": step})
        outputs = {"wide": step} | ({} if smoothing is None else {"small": smoothing.steps})
        norm_name, norm = self.norm
        for output, steps in outputs.items():
            self._store("", quantize_norm(f"{norm_name}.{output}", norm, steps))
        return step

    def _sum(self, prefix: str, name: str, product: str, residual_step: float) -> float:
        """The scale of a residual that is added to a product; returns the step of the sum."""
        step = int16_step(self.seen[name])
        residual_scale = residual_step / step
        self._scalars(prefix, {f"{name}.step": step, f"{product}.residual_scale": residual_scale})
        return step

    def _store(self, prefix: str, arrays: dict[str, NDArray[Any]]) -> None:
        self.arrays.update({prefix + name: array for name, array in arrays.items()})

    def _scalars(self, prefix: str, values: dict[str, float]) -> None:
        self._store(prefix, {name: np.array(value, np.float32) for name, value in values.items()})
