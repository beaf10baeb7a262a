"""Graphs of decoders: a prefill, or a step behind what is in the cache.

Rows are tokens; those of a text follow each other.  Keys and values of a layer are in one cache
each: the texts' parts below each other, between rows of guards that nobody writes.  A step writes
the rows of its tokens there, and reads all keys that its tokens see.  Names of tensors and
operators start with the layer's number.
"""

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    Combine,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    Graph,
    Mask,
    Normalized,
    Requantize,
    Sums,
    Tensor,
    View,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.models.integer_decoder import IntegerDecoder
from celosia.sw.quantize.rotary import rotary_table

__all__ = [
    "decoder_graph",
    "decoder_layer_graph",
    "position_angles",
]


def decoder_graph(
    model: IntegerDecoder, texts: Sequence[Text], capacity: int, *, keys: int | None = None
) -> Graph:
    """The decoder for the tokens that `texts` add, with caches for `capacity` tokens of each text.

    Inputs: ``embedding`` (int16, a row for each token), with rotary positions ``angles``
    (`position_angles`), and the caches ``0.keys`` and ``0.values`` of each layer.  Output
    ``logits``: int32 sums for each token, one for each column of the vocabulary's matrix.  All rows
    read the first `keys` keys of the cache, of which those behind them do not count, and programs
    can be patched for a smaller context (`Mask.moving`); None: those that there are.

    Raises `ValueError` for texts that do not fit into the cache, and for a step without tokens.
    """
    decoder = _Decoder(model, texts, capacity, keys)
    stream = decoder.input("embedding")
    for index in range(model.shape.layers):
        stream = decoder.layer(index, stream)
    small = decoder.norm("norm", "norm", stream, "output")
    weights = decoder.constant("vocabulary.weights")
    logits = decoder.tensor("logits", "int32", weights.cols)
    decoder.builder.matmul("vocabulary", logits, small, weights, Sums())
    return decoder.builder.finish("logits")


def position_angles(shape: DecoderShape, texts: Sequence[Text]) -> dict[str, NDArray[np.int16]]:
    """The input ``angles`` of a step: a row for each token; none without rotary positions."""
    if shape.form != "llama":
        return {}
    positions = np.concatenate([np.arange(text.context, text.keys) for text in texts])
    return {"angles": rotary_table(positions, shape.head_width, base=shape.rotary_base)}


def decoder_layer_graph(
    model: IntegerDecoder, texts: Sequence[Text], capacity: int, index: int = 0
) -> Graph:
    """Layer `index` alone, from ``embedding`` to ``0.sum``, with the layer's number for 0.

    Raises `ValueError` as `decoder_graph` does, and for a layer that there is not.
    """
    if not 0 <= index < model.shape.layers:
        raise ValueError(f"layer: {index} is not in 0..{model.shape.layers - 1}")
    decoder = _Decoder(model, texts, capacity, None)
    return decoder.builder.finish(decoder.layer(index, decoder.input("embedding")).tensor)


class _Decoder:
    """A graph of parts of `model` in the making."""

    def __init__(
        self, model: IntegerDecoder, texts: Sequence[Text], capacity: int, keys: int | None
    ):
        _check_texts(texts, capacity, keys)
        self.model, self.shape, self.texts = model, model.shape, texts
        self.layout = CacheLayout(len(texts), capacity)
        self.keys = keys
        self.rows = sum(text.rows for text in texts)
        what = ", ".join(f"{text.rows} behind {text.context}" for text in texts)
        self.builder = GraphBuilder(f"decoder {model.shape}: {what}")
        if self.shape.form == "llama":
            angles = Tensor("angles", "int16", self.rows, self.shape.head_width)
            self.angles = self.builder.input(angles)

    def input(self, name: str) -> View:
        """The sums of embeddings of all tokens."""
        return self.builder.input(Tensor(name, "int16", self.rows, self.shape.width))

    def cache(self, name: str) -> View:
        """The cache of keys or of values of a layer."""
        shape = self.layout.rows, self.shape.cache_width
        return self.builder.input(Tensor(name, "int8", *shape, cache=True))

    def tensor(self, name: str, kind: str, cols: int = 0) -> View:
        """A row for each token, as wide as the decoder unless told otherwise."""
        return self.builder.tensor(Tensor(name, kind, self.rows, cols or self.shape.width))

    def constant(self, name: str) -> View:
        """A tensor of the model."""
        return self.builder.constant(name, self.model.tensors[name])

    def norm(self, name: str, constants: str, source: View, out: str) -> View:
        """A normalization to int8."""
        small = self.tensor(out, "int8")
        gamma, beta = (self.constant(f"{constants}.{part}") for part in ("gamma", "beta"))
        output = Normalized(small, gamma, beta, int(self.model.tensors[f"{constants}.shift"]))
        llama = self.shape.form == "llama"
        epsilon = int(self.model.scalars.get(f"{constants}.epsilon", 0))
        self.builder.layernorm(name, source, [output], epsilon=epsilon, rms=llama)
        return small

    def layer(self, index: int, stream: View) -> View:
        """Layer `index`; returns the stream behind it."""
        name = f"layers.{index}"
        small = self.norm(f"{index}.input_norm", f"{name}.norm", stream, f"{index}.input")
        context = self.attention(index, small)
        stream = self.add(index, "output", "attention_sum", context, stream)
        norm = f"{index}.attention_norm"
        small = self.norm(norm, f"{name}.attention_norm", stream, f"{index}.attention")
        return self.add(index, "down", "sum", self.hidden(index, small), stream)

    def hidden(self, index: int, small: View) -> View:
        """What the feed-forward network has between its products."""
        form, columns, name = self.shape.form, self.shape.hidden, f"layers.{index}"
        hidden = self.tensor(f"{index}.hidden", "uint8" if form == "gpt2" else "int8", columns)
        scale = self.constant(f"{name}.up.scale")
        if form == "opt":
            return self.linear(index, "up", small, hidden, Requantize(scale, relu=True))
        if form == "gpt2":
            zero_point = int(self.model.scalar(f"{name}.hidden.zero_point"))
            out_scale = self.model.scalar(f"{name}.hidden.scale")
            finish = Activation("gelu", scale, out_scale, zero_point)
            return self.linear(index, "up", small, hidden, finish)
        gate, up = (self.tensor(f"{index}.{part}", "int16", columns) for part in ("gate", "up"))
        curve = self.constant(f"{name}.gate.scale"), self.model.scalar(f"{name}.gate.out_scale")
        self.linear(index, "gate", small, gate, Activation("silu", *curve))
        self.linear(index, "up", small, up, Requantize(scale))
        product = self.model.scalar(f"{name}.hidden.scale")
        return self.builder.combine(
            Combine(
                name=f"{index}.multiply",
                function="multiply",
                out=hidden,
                a=gate,
                b=up,
                scale=product,
            )
        )

    def linear(
        self,
        index: int,
        name: str,
        a: View,
        out: View,
        finish: Finish,
        copies: tuple[View, ...] = (),
    ) -> View:
        """A product with a bias."""
        constants = f"layers.{index}.{name}"
        weights, bias = self.constant(f"{constants}.weights"), self.constant(f"{constants}.bias")
        return self.builder.matmul(
            f"{index}.{name}", out, a, weights, finish, bias=bias, copies=copies
        )

    def add(self, index: int, name: str, sum_name: str, a: View, residual: View) -> View:
        """A product that is added to the stream."""
        out = self.tensor(f"{index}.{sum_name}", "int16")
        scale = self.constant(f"layers.{index}.{name}.scale")
        before = self.model.scalar(f"layers.{index}.{name}.residual_scale")
        how = AddResidual(scale, residual, before)
        return self.linear(index, name, a, out, how)

    def attention(self, index: int, small: View) -> View:
        """Keys and values first: they have to be in memory before they are read."""
        keys, values = (self.cache(f"{index}.{name}") for name in ("keys", "values"))
        query = self.tensor(f"{index}.query", "int8")
        if self.shape.form == "llama":
            self.rotate(index, "key", small, self.places(keys))
            self.append(index, "value", small, values)
            self.rotate(index, "query", small, [query])
        else:
            self.append(index, "key", small, keys)
            self.append(index, "value", small, values)
            self.linear(index, "query", small, query, self.requantize(index, "query"))
        context = self.tensor(f"{index}.context", "int8")
        starts = accumulate((text.rows for text in self.texts), initial=0)
        for number, (text, row) in enumerate(zip(self.texts, starts, strict=False)):
            first, count = self.layout.first(number), self.keys or text.keys
            q, out = (view.part(row=row, rows=text.rows) for view in (query, context))
            k, v = (view.part(row=first, rows=count) for view in (keys, values))
            self.attend(index, number, q, k, v, out)
        return context

    def requantize(self, index: int, name: str) -> Requantize:
        """To int8, with a scale for each column."""
        return Requantize(self.constant(f"layers.{index}.{name}.scale"))

    def append(self, index: int, name: str, small: View, cache: View) -> None:
        """Keys or values of the tokens, to their places in the cache."""
        how, rows = self.requantize(index, name), self.places(cache)
        if len(rows) == 1:
            self.linear(index, name, small, rows[0], how)
            return
        out = self.tensor(f"{index}.{name}", "int8", cache.cols)
        each = [view.part(row=row, rows=1) for view in rows for row in range(view.rows)]
        self.linear(index, name, small, out, how, copies=tuple(each))

    def places(self, cache: View) -> list[View]:
        """The rows of a cache that the tokens of each text are written to."""
        return [
            cache.part(row=self.layout.first(number) + text.context, rows=text.rows)
            for number, text in enumerate(self.texts)
        ]

    def rotate(self, index: int, name: str, small: View, outs: Sequence[View]) -> None:
        """A product whose heads rotary positions turn, to rows below each other."""
        width = self.shape.head_width
        wide = self.tensor(f"{index}.{name}.wide", "int16", outs[0].cols)
        self.linear(index, name, small, wide, self.requantize(index, name))
        scales = self.model.heads[f"layers.{index}.{name}.rotate_scale"]
        row = 0
        for number, out in enumerate(outs):
            a, b = (view.part(row=row, rows=out.rows) for view in (wide, self.angles))
            for head in range(wide.cols // width):
                turned, source = (x.part(col=head * width, cols=width) for x in (out, a))
                end = f"rotate_{name}.text{number}.head{head}"
                self.builder.combine(
                    Combine(
                        name=f"{index}.{end}",
                        function="rotate",
                        out=turned,
                        a=source,
                        b=b,
                        scale=scales[head],
                    )
                )
            row += out.rows

    def attend(self, index: int, number: int, q: View, k: View, v: View, context: View) -> None:
        """Attention of one text: for each head, a block of rows of numerators and of sums."""
        name, text = f"{index}.{{}}.text{number}", self.texts[number]
        shape, rows = self.shape, q.rows
        heads, width = shape.heads, shape.head_width
        score_scales, context_scales = (
            self.model.heads[f"layers.{index}.{part}.scale"] for part in ("scores", "context")
        )
        numerators, sums = (
            self.builder.tensor(Tensor(name.format(what), kind, heads * rows, cols))
            for what, kind, cols in (("numerators", "uint8", k.rows), ("sums", "int32", 1))
        )
        masked = rows > 1 or self.keys is not None
        moving = self.keys is not None
        mask = Mask(causal=masked, first_row=text.context if masked else 0, moving=moving)
        for head in range(heads):
            one = numerators.part(row=head * rows, rows=rows)
            totals = sums.part(row=head * rows, rows=rows)
            shared = head * shape.key_heads // heads
            qh, out = (view.part(col=head * width, cols=width) for view in (q, context))
            kh, vh = (view.part(col=shared * width, cols=width) for view in (k, v))
            end = f"head{head}"
            stored = self.model.stored_scores
            finish = DeferredSoftmax(score_scales[head], totals, mask, stored)
            self.builder.matmul(
                f"{name.format('scores')}.{end}", one, qh, kh, finish, b_transposed=True
            )
            divide = DivideBySums(totals, context_scales[head])
            self.builder.matmul(f"{name.format('context')}.{end}", out, one, vh, divide)


def _check_texts(texts: Sequence[Text], capacity: int, keys: int | None) -> None:
    if not texts:
        raise ValueError("texts: there are none")
    for number, text in enumerate(texts):
        if text.rows < 1:
            raise ValueError(f"text {number}: a step of {text.rows} tokens has nothing to compute")
        if text.context < 0:
            raise ValueError(f"text {number}: a context of {text.context} tokens is negative")
        if text.keys > capacity:
            raise ValueError(
                f"text {number}: {text.context} tokens in the cache and {text.rows} of the step "
                f"are more than the {capacity} that the cache holds"
            )
        if keys is not None and not text.keys <= keys <= capacity:
            raise ValueError(f"keys: {keys} are not in {text.keys}..{capacity}")
