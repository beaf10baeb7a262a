"""Graphs with branches that do not depend on each other, by name.

They are as wide as MiniLM (384, 12 heads, 1,536 hidden), with random weights, and were chosen
before anything was measured on them.  `decode-beside-prefill` and `decode-deep` were chosen by the
limit that units set: one branch needs memory for longer than the array, the other one the array for
longer than memory.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import ACTIVATIONS
from celosia.isa.numerics import EXPONENT_FRACTION_BITS
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Normalized,
    Requantize,
    Tensor,
    View,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.cases import Case
from celosia.sw.models.random_operands import INT8_SPREAD, int8_matrix, int16_matrix
from celosia.sw.quantize.norm import quantize_norm
from celosia.sw.reference.encoder import Norm

__all__ = ["BRANCHES", "branches_case"]

_WIDTH: Final = 384
_HEADS: Final = 12
_HIDDEN: Final = 1536
_STREAM_SPREAD: Final = 4000
"""The standard deviation of residual streams."""


def branches_case(name: str, seed: int, *, width: int = _WIDTH, heads: int = _HEADS) -> Case:
    """The graph of this name; narrower ones are for tests.

    Raises `KeyError` if there is none.
    """
    return BRANCHES[name](_Parts(name, seed, width, heads))


def _parallel_block(parts: "_Parts") -> Case:
    """A block whose attention and feed-forward network read the same norm, as GPT-J's."""
    small, wide = parts.stream("x", 128)
    keys, values = (parts.linear(name, small) for name in ("key", "value"))
    context = parts.attention("text", parts.linear("query", small), keys, values)
    hidden = parts.up("up", small)
    added = parts.add("attention_out", context, wide)
    parts.add("down", hidden, added)
    return parts.case("down")


def _texts(parts: "_Parts") -> Case:
    """A text of 256 tokens in one layer beside one of 12 tokens in two, with their own weights."""
    long, short = parts.stream("long", 256), parts.stream("short", 12)
    parts.layer("long.0", *long)
    parts.layer("short.1", *parts.layer("short.0", *short))
    return parts.case("long.0.norm.small", "short.1.norm.small")


def _encoder_decoder(parts: "_Parts") -> Case:
    """A layer of an encoder on 192 tokens beside a decoder's on 8, up to its cross-attention."""
    source, target = parts.stream("source", 192), parts.stream("target", 8)
    encoded, _ = parts.layer("encoder", *source)
    small, wide = parts.attend("decoder.self", *target, target[0])
    small, wide = parts.attend("decoder.cross", small, wide, encoded)
    hidden = parts.up("decoder.up", small)
    parts.normalized("decoder.norm", parts.add("decoder.down", hidden, wide))
    return parts.case("decoder.norm.small")


def _decode_beside_prefill(parts: "_Parts") -> Case:
    """The prefill of 256 tokens in a layer beside the step of another text in two, of 128 keys."""
    text, token = parts.stream("text", 256), parts.stream("token", 1)
    parts.layer("prefill.0", *text)
    parts.step("decode.1", *parts.step("decode.0", *token))
    return parts.case("prefill.0.norm.small", "decode.1.norm.small")


def _texts_deep(parts: "_Parts") -> Case:
    """A text of 128 tokens in one layer beside one of 12 tokens in four."""
    parts.layer("long.0", *parts.stream("long", 128))
    short = parts.stream("short", 12)
    for layer in range(4):
        short = parts.layer(f"short.{layer}", *short)
    return parts.case("long.0.norm.small", "short.3.norm.small")


def _encoders(parts: "_Parts") -> Case:
    """Two texts of 64 tokens, in two and in four layers of a third of the width, of 4 heads."""
    parts.width, parts.hidden = parts.width // 3, parts.hidden // 3
    parts.heads = max(1, parts.heads // 3)
    for name, layers in (("short", 2), ("long", 4)):
        text = parts.stream(name, 64)
        for layer in range(layers):
            text = parts.layer(f"{name}.{layer}", *text)
    return parts.case("short.1.norm.small", "long.3.norm.small")


def _decode_deep(parts: "_Parts") -> Case:
    """The prefill of 128 tokens in a layer beside the step of another text in four."""
    parts.layer("prefill.0", *parts.stream("text", 128))
    token = parts.stream("token", 1)
    for layer in range(4):
        token = parts.step(f"decode.{layer}", *token)
    return parts.case("prefill.0.norm.small", "decode.3.norm.small")


BRANCHES: Final[Mapping[str, Callable[["_Parts"], Case]]] = {
    "parallel-block": _parallel_block,
    "texts": _texts,
    "encoder-decoder": _encoder_decoder,
    "decode-beside-prefill": _decode_beside_prefill,
    "texts-deep": _texts_deep,
    "encoders": _encoders,
    "decode-deep": _decode_deep,
}
"""The graphs by their names."""


class _Parts:
    """A graph in the making."""

    def __init__(self, name: str, seed: int, width: int, heads: int):
        self.random = np.random.default_rng(seed)
        self.builder = GraphBuilder(name)
        self.width, self.heads = width, heads
        self.hidden = _HIDDEN * width // _WIDTH
        self.inputs: dict[str, NDArray[np.integer]] = {}

    def case(self, *outputs: str) -> Case:
        """The graph with these outputs, and its inputs."""
        return Case(self.builder.finish(*outputs), self.inputs)

    def stream(self, name: str, rows: int) -> tuple[View, View]:
        """Inputs: a norm as int8, and the stream that sums are added to as int16."""
        self.inputs[f"{name}.small"] = int8_matrix(self.random, rows, self.width)
        self.inputs[f"{name}.wide"] = int16_matrix(self.random, rows, self.width, _STREAM_SPREAD)
        small = self.builder.input(Tensor(f"{name}.small", "int8", rows, self.width))
        return small, self.builder.input(Tensor(f"{name}.wide", "int16", rows, self.width))

    def layer(self, name: str, small: View, wide: View) -> tuple[View, View]:
        """A layer of an encoder."""
        small, wide = self.attend(f"{name}.attention", small, wide, small)
        return self.feed(name, small, wide)

    def feed(self, name: str, small: View, wide: View) -> tuple[View, View]:
        """A feed-forward network, and the norm behind it."""
        hidden = self.up(f"{name}.up", small)
        return self.normalized(f"{name}.norm", self.add(f"{name}.down", hidden, wide))

    def step(self, name: str, small: View, wide: View) -> tuple[View, View]:
        """A layer for tokens that see 128 keys that are there already."""
        cached = []
        for what in ("keys", "values"):
            key = f"{name}.{what}"
            self.inputs[key] = int8_matrix(self.random, 128, self.width)
            cached.append(self.builder.input(Tensor(key, "int8", 128, self.width)))
        query = self.linear(f"{name}.query", small)
        context = self.attention(name, query, *cached)
        total = self.add(f"{name}.out", context, wide)
        small, wide = self.normalized(f"{name}.attention_norm", total)
        return self.feed(name, small, wide)

    def attend(self, name: str, small: View, wide: View, source: View) -> tuple[View, View]:
        """Attention to `source`, its output's product and norm."""
        query = self.linear(f"{name}.query", small)
        keys, values = (self.linear(f"{name}.{what}", source) for what in ("key", "value"))
        context = self.attention(name, query, keys, values)
        return self.normalized(f"{name}.norm", self.add(f"{name}.out", context, wide))

    def linear(self, name: str, a: View) -> View:
        """A product to int8."""
        out = self.builder.tensor(Tensor(name, "int8", a.rows, self.width))
        finish = Requantize(self._scale(a.cols, INT8_SPREAD))
        return self.builder.matmul(name, out, a, self._weights(name, a.cols, self.width), finish)

    def up(self, name: str, a: View) -> View:
        """A product and GELU."""
        out = self.builder.tensor(Tensor(name, "uint8", a.rows, self.hidden))
        curve = ACTIVATIONS["gelu"]
        scale = self._scale(a.cols, 2**curve.fraction_bits)
        finish = Activation("gelu", scale, float(np.float32(curve.unit / 0.02)), 10)
        return self.builder.matmul(name, out, a, self._weights(name, a.cols, self.hidden), finish)

    def add(self, name: str, a: View, residual: View) -> View:
        """A product that is added to a stream."""
        out = self.builder.tensor(Tensor(name, "int16", a.rows, self.width))
        finish = AddResidual(self._scale(a.cols, _STREAM_SPREAD / 4), residual, 0.75)
        return self.builder.matmul(name, out, a, self._weights(name, a.cols, self.width), finish)

    def normalized(self, name: str, source: View) -> tuple[View, View]:
        """A layer normalization to int8 and to int16."""
        ones, zeros = np.ones(self.width, np.float32), np.zeros(self.width, np.float32)
        outputs = []
        for kind, size, step in (("small", "int8", 4 / 127), ("wide", "int16", 8 / 32767)):
            key = f"{name}.{kind}"
            arrays = quantize_norm(key, Norm(ones, zeros), step)
            out = self.builder.tensor(Tensor(key, size, source.rows, self.width))
            gamma, beta = (
                self.builder.constant(f"{key}.{part}", arrays[f"{key}.{part}"])
                for part in ("gamma", "beta")
            )
            outputs.append(Normalized(out, gamma, beta, int(arrays[f"{key}.shift"])))
        self.builder.layernorm(name, source, outputs)
        return outputs[0].out, outputs[1].out

    def attention(self, name: str, query: View, keys: View, values: View) -> View:
        """Heads of attention, whose scores and numerators stay on the chip."""
        rows, seen, builder = query.rows, keys.rows, self.builder
        each = self.width // self.heads
        context = builder.tensor(Tensor(f"{name}.context", "int8", rows, self.width))
        numerators = builder.tensor(Tensor(f"{name}.numerators", "uint8", self.heads * rows, seen))
        sums = builder.tensor(Tensor(f"{name}.sums", "int32", self.heads * rows, 1))
        scale = self._scale(each, 2 * 2**EXPONENT_FRACTION_BITS)
        for head in range(self.heads):
            one = numerators.part(row=head * rows, rows=rows)
            totals = sums.part(row=head * rows, rows=rows)
            q, k, v, out = (
                view.part(col=head * each, cols=each) for view in (query, keys, values, context)
            )
            softmax = DeferredSoftmax(scale, totals, stored=True)
            builder.matmul(f"{name}.scores.{head}", one, q, k, softmax, b_transposed=True)
            finish = DivideBySums(totals, 2.0**-15)
            builder.matmul(f"{name}.context.{head}", out, one, v, finish)
        return context

    def _weights(self, name: str, depth: int, cols: int) -> View:
        return self.builder.constant(f"{name}.weights", int8_matrix(self.random, depth, cols))

    @staticmethod
    def _scale(depth: int, spread: float) -> float:
        """The scale that gives sums of so many products this standard deviation."""
        return float(np.float32(spread / (INT8_SPREAD**2 * np.sqrt(depth))))
