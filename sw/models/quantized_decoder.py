"""A decoder in integers, with static scales.

Weights have a step for each output.  Operands of products with weights have a step for each tensor,
queries, keys and values one for each head, so the caches are int8.  What is added to the stream,
and what rotary positions, SiLU and its product take, is int16; behind GELU is uint8, with outliers
spread over channels.  Ranges are those of some texts; SmoothQuant moves range from operands into
weights first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import (
    CONTEXT_FRACTION_BITS,
    EXPONENT_FRACTION_BITS,
    INT16_MAX,
    INT16_MIN,
    causal_mask,
    nearest,
)
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.models.integer_decoder import BURST_COLUMNS, IntegerDecoder
from celosia.sw.quantize.curves import center
from celosia.sw.quantize.linear import IntegerLinear, quantize_linear
from celosia.sw.quantize.norm import quantize_norm
from celosia.sw.quantize.ranges import ScoreRange, best_step, int16_step
from celosia.sw.quantize.smooth_decoder import observed, smoothed
from celosia.sw.quantize.spread import spread_outliers
from celosia.sw.reference.encoder import Floats, Linear
from celosia.sw.reference.language.decoder import DecoderWeights, silu
from celosia.sw.reference.language.shape import Sizes

__all__ = ["QuantizedDecoder", "quantize_decoder"]

_STRENGTH: Final = 0.5
"""How much of the range of operands moves into weights."""
_GELU: Final = ACTIVATIONS["gelu"]
_SILU: Final = ACTIVATIONS["silu"]


@dataclass(frozen=True, eq=False)
class QuantizedDecoder:
    """The integers of a decoder, and what they stand for at both ends."""

    decoder: IntegerDecoder
    embedding: NDArray[np.int16]
    """A row for each token of the vocabulary."""
    logit_steps: NDArray[np.float64]
    """What 1 in the sum of each token stands for."""
    positions: NDArray[np.int16] | None = None
    """A row for each position that a token can have, in steps of `embedding`; None: no position has
    one."""

    def embedded(self, tokens: Sequence[int], first: int) -> NDArray[np.int16]:
        """The input ``embedding`` of a step: rows of `tokens`, the first at position `first`."""
        rows = self.embedding[list(tokens)]
        if self.positions is None:
            return rows
        places = self.positions[first : first + len(tokens)]
        return np.clip(rows.astype(np.int32) + places, INT16_MIN, INT16_MAX).astype(np.int16)

    def logits(self, sums: NDArray[np.int32]) -> Floats:
        """The logits (tokens x vocabulary) of a step's sums, columns of padding left out."""
        return (sums[:, : len(self.logit_steps)] * self.logit_steps).astype(np.float32)


def quantize_decoder(
    weights: DecoderWeights, calibration: Sequence[Sequence[int]]
) -> QuantizedDecoder:
    """The integer form of `weights`, whose ranges are those of the `calibration` texts."""
    weights = smoothed(weights, observed(weights, calibration), _STRENGTH)
    maker = _Maker(weights, observed(weights, calibration), [*map(len, calibration)])
    stream = maker.embedding_step
    for index in range(weights.shape.layers):
        stream = maker.layer(index, stream)
    return maker.finish(stream)


@dataclass(eq=False)
class _Maker:
    """Collects a decoder's integers, layer by layer."""

    weights: DecoderWeights
    seen: Mapping[str, Floats]
    lengths: Sequence[int]
    """Rows of `seen` that each text has."""
    tensors: dict[str, NDArray[Any]] = field(default_factory=dict)
    scalars: dict[str, float] = field(default_factory=dict)
    heads: dict[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def shape(self) -> Sizes:
        """The sizes."""
        return self.weights.shape

    @property
    def embedding_step(self) -> float:
        """What 1 in a row of the tables of tokens and positions stands for."""
        tables = [self.weights["embedding"], self.weights.tensors.get("positions")]
        return sum(int16_step(table) for table in tables if table is not None)

    def layer(self, index: int, stream: float) -> float:
        """Layer `index`, for a stream in steps of `stream`; returns its step behind the layer."""
        stream = self._attention(index, stream)
        return self._feed_forward(index, stream)

    def finish(self, stream: float) -> QuantizedDecoder:
        """The last normalization, the vocabulary, and all that was collected."""
        shape, table = self.shape, self.weights["embedding"]
        step = self._norm("norm", "norm", "output", stream)
        matrix = self.weights.vocabulary
        linear = quantize_linear(Linear(matrix, np.zeros(matrix.shape[1], np.float32)), step)
        columns = -(-shape.vocabulary // BURST_COLUMNS) * BURST_COLUMNS
        padded = np.zeros((shape.width, columns), np.int8)
        padded[:, : shape.vocabulary] = linear.weights
        self.tensors["vocabulary.weights"] = padded
        sizes = DecoderShape(
            form=shape.form,
            layers=shape.layers,
            width=shape.width,
            heads=shape.heads,
            key_heads=shape.key_heads,
            hidden=shape.hidden,
            vocabulary=shape.vocabulary,
            rotary_base=shape.rotary_base,
        )
        places = self.weights.tensors.get("positions")
        return QuantizedDecoder(
            IntegerDecoder(
                sizes,
                self.tensors,
                self.scalars,
                self.heads,
                stored_scores=self._score_range().may_wait,
            ),
            nearest(table / self.embedding_step, np.int16, "embedding"),
            linear.steps,
            None
            if places is None
            else nearest(places / self.embedding_step, np.int16, "positions"),
        )

    def _attention(self, index: int, stream: float) -> float:
        shape, name = self.shape, f"layers.{index}"
        step = self._norm(f"{name}.norm", f"{index}.attention_norm", f"{index}.input", stream)
        query, key = (self._scored(index, part, step) for part in ("query", "key"))
        value = self._head_steps(f"{index}.value", shape.key_heads)
        self._product(index, "value", step, np.repeat(value, shape.head_width))
        context = best_step(self.seen[f"{index}.context"])
        shared = shape.heads // shape.key_heads
        scores = query * np.repeat(key, shared) / np.sqrt(shape.head_width)
        means = np.repeat(value, shared) / context
        self.heads[f"{name}.scores.scale"] = _floats(scores * 2.0**EXPONENT_FRACTION_BITS)
        self.heads[f"{name}.context.scale"] = _floats(means / 2.0**CONTEXT_FRACTION_BITS)
        return self._added(index, "output", "attention_sum", context, stream)

    def _score_range(self) -> ScoreRange:
        """How far the scores of all layers and heads reach, each text for itself."""
        shape, found = self.shape, ScoreRange()
        ends = np.cumsum(self.lengths)[:-1]
        for index in range(shape.layers):
            parts = (np.split(self.seen[f"{index}.{name}"], ends) for name in ("query", "key"))
            for query, key in zip(*parts, strict=True):
                queries = query.reshape(len(query), shape.heads, -1).transpose(1, 0, 2)
                keys = key.reshape(len(key), shape.key_heads, -1).transpose(1, 2, 0)
                keys = keys.repeat(shape.heads // shape.key_heads, axis=0)
                scores = queries @ keys / np.sqrt(shape.head_width)
                found.take(np.where(causal_mask(*scores.shape[1:]), scores, -np.inf))
        return found

    def _feed_forward(self, index: int, stream: float) -> float:
        name = f"layers.{index}"
        step = self._norm(f"{name}.attention_norm", f"{index}.norm", f"{index}.attention", stream)
        if self.shape.form == "gpt2":
            return self._with_gelu(index, step, stream)
        hidden = best_step(self.seen[f"{index}.hidden"])
        if self.shape.form == "opt":
            self._product(index, "up", step, hidden)
            return self._added(index, "down", "sum", hidden, stream)
        gate = int16_step(silu(self.seen[f"{index}.gate"]))
        up = int16_step(self.seen[f"{index}.up"])
        self._product(index, "gate", step, 2.0**-_SILU.fraction_bits)
        self._product(index, "up", step, up)
        self.scalars[f"{name}.gate.out_scale"] = _SILU.unit / gate
        self.scalars[f"{name}.hidden.scale"] = gate * up / hidden
        return self._added(index, "down", "sum", hidden, stream)

    def _with_gelu(self, index: int, in_step: float, stream: float) -> float:
        """A feed-forward network whose hidden values are uint8."""
        name, seen = f"layers.{index}", self.seen
        up, down = (self.weights.linear(f"{index}.{part}") for part in ("up", "down"))
        spread = spread_outliers(up, down, seen[f"{index}.hidden"])
        hidden = spread.range
        self._store(index, "up", quantize_linear(spread.up, in_step), 2.0**-_GELU.fraction_bits)
        self.scalars[f"{name}.hidden.zero_point"] = hidden.zero_point
        self.scalars[f"{name}.hidden.scale"] = _GELU.unit / hidden.step
        centered = center(spread, down, seen[f"{index}.up"], seen[f"{index}.hidden"])
        linear = quantize_linear(centered, hidden.step, hidden.zero_point)
        return self._sum(index, "down", "sum", linear, stream)

    def _norm(self, name: str, gamma: str, out: str, stream: float) -> float:
        """A normalization of the stream; returns the step of its int8."""
        step = best_step(self.seen[out])
        self.tensors |= quantize_norm(name, self.weights.norm(gamma), step)
        self.scalars[f"{name}.epsilon"] = self.weights.epsilon * self.shape.width / stream**2
        return step

    def _scored(self, index: int, part: str, in_step: float) -> NDArray[np.float64]:
        """Queries or keys; returns the step of heads."""
        heads = self.shape.heads if part == "query" else self.shape.key_heads
        steps = self._head_steps(f"{index}.{part}", heads)
        if self.shape.form != "llama":
            self._product(index, part, in_step, np.repeat(steps, self.shape.head_width))
            return steps
        # int16 before rotary positions turn them.
        turned = self.seen[f"{index}.{part}"]
        # Turning keeps the length of a pair, which bounds its elements before and after.
        low, high = np.split(turned.reshape(len(turned), heads, -1), 2, axis=-1)
        wide = np.array([int16_step(each) for each in np.hypot(low, high).transpose(1, 0, 2)])
        self._product(index, part, in_step, np.repeat(wide, self.shape.head_width))
        self.heads[f"layers.{index}.{part}.rotate_scale"] = _floats(wide / steps)
        return steps

    def _head_steps(self, name: str, heads: int) -> NDArray[np.float64]:
        return np.array([best_step(part) for part in np.split(self.seen[name], heads, axis=1)])

    def _product(self, index: int, part: str, in_step: float, out_steps: Any) -> None:
        linear = quantize_linear(self.weights.linear(f"{index}.{part}"), in_step)
        self._store(index, part, linear, out_steps)

    def _store(self, index: int, part: str, linear: IntegerLinear, out_steps: Any) -> None:
        self.tensors |= linear.arrays(f"layers.{index}.{part}", out_steps)

    def _added(self, index: int, part: str, out: str, in_step: float, stream: float) -> float:
        """A product that is added to the stream; returns the step of the sum."""
        linear = quantize_linear(self.weights.linear(f"{index}.{part}"), in_step)
        return self._sum(index, part, out, linear, stream)

    def _sum(self, index: int, part: str, out: str, linear: IntegerLinear, stream: float) -> float:
        step = int16_step(self.seen[f"{index}.{out}"])
        self._store(index, part, linear, step)
        self.scalars[f"layers.{index}.{part}.residual_scale"] = stream / step
        return step


def _floats(values: NDArray[np.float64]) -> tuple[float, ...]:
    """Scales as the accelerator takes them: float32."""
    return tuple(map(float, values.astype(np.float32)))
