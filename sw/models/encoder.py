"""Graphs of encoders: what an integer model computes for texts of given lengths.

Texts stand below each other, a row for each token; each attends to itself, head by head.  Names of
tensors and operators start with the layer's number; constants have their names of the model file.
"""

from collections.abc import Sequence

from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Finish,
    Graph,
    Normalized,
    Requantize,
    Tensor,
    View,
)
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.quantize.model import IntegerEncoder
from celosia.sw.reference.encoder import segments

__all__ = ["encoder_graph", "encoder_layer_graph", "first_norm_graph"]


def encoder_graph(model: IntegerEncoder, lengths: Sequence[int]) -> Graph:
    """The encoder for texts of `lengths` tokens.

    Input ``embedding`` (int16, sums of embeddings), output ``output`` (int16).
    """
    encoder = _Encoder(model, lengths)
    source = encoder.input("embedding", "int16", model.scalar("embedding.step"))
    small, wide = encoder.norm("norm", source, "0.input")
    for index in range(model.shape.layers - 1):
        small, wide = encoder.layer(index, small, wide)
    return encoder.builder.finish(encoder.last_layer(small, wide).tensor)


def encoder_layer_graph(model: IntegerEncoder, lengths: Sequence[int], index: int = 0) -> Graph:
    """Layer `index`, which is not the last one.

    Inputs ``0.input.small`` (int8) and ``0.input.wide`` (int16), with the layer's number for 0, are
    those of the normalization before it; outputs are the same two of the layer behind it.
    """
    if not 0 <= index < model.shape.layers - 1:
        raise ValueError(f"layer: {index} is not in 0..{model.shape.layers - 2}")
    encoder = _Encoder(model, lengths)
    small = encoder.input(f"{index}.input.small", "int8")
    step = model.scalar(f"layers.{index}.input.step")
    wide = encoder.input(f"{index}.input.wide", "int16", step)
    outputs = encoder.layer(index, small, wide)
    return encoder.builder.finish(*(view.tensor for view in outputs))


def first_norm_graph(model: IntegerEncoder, lengths: Sequence[int]) -> Graph:
    """The normalization before layer 0.

    Input ``embedding`` (int16), outputs ``0.input.small`` and ``0.input.wide``.
    """
    encoder = _Encoder(model, lengths)
    source = encoder.input("embedding", "int16", model.scalar("embedding.step"))
    return encoder.builder.finish(*(v.tensor for v in encoder.norm("norm", source, "0.input")))


class _Encoder:
    """A graph of parts of `model` in the making."""

    def __init__(self, model: IntegerEncoder, lengths: Sequence[int]):
        if not lengths or min(lengths) < 1:
            raise ValueError(f"lengths: {list(lengths)} are not those of one or more texts")
        self.model = model
        self.shape = model.shape
        self.lengths = lengths
        self.rows = sum(lengths)
        self.builder = GraphBuilder(f"encoder of {model.shape} for {list(lengths)} tokens")

    def input(self, name: str, kind: str, step: float | None = None) -> View:
        return self.builder.input(Tensor(name, kind, self.rows, self.shape.width, step))

    def tensor(self, name: str, kind: str, *, cols: int = 0, step: str | None = None) -> View:
        """A row for each token, as wide as the encoder unless told otherwise."""
        real = None if step is None else self.model.scalar(step)
        return self.builder.tensor(Tensor(name, kind, self.rows, cols or self.shape.width, real))

    def constant(self, name: str) -> View:
        return self.builder.constant(name, self.model.tensors[name])

    def layer(self, index: int, small: View, wide: View) -> tuple[View, View]:
        """Layer `index`; returns the inputs of the next one."""
        total = self.sum(index, small, wide)
        return self.norm(f"layers.{index}.norm", total, f"{index + 1}.input")

    def last_layer(self, small: View, wide: View) -> View:
        """The last layer; returns the output of the encoder."""
        index = self.shape.layers - 1
        total = self.sum(index, small, wide)
        output = self.tensor("output", "int16", step="output.step")
        self.add_norm(f"layers.{index}.norm", total, wide=output)
        return output

    def norm(self, constants: str, source: View, name: str) -> tuple[View, View]:
        """A normalization with the outputs `name`.small and `name`.wide."""
        small = self.tensor(f"{name}.small", "int8")
        wide = self.tensor(f"{name}.wide", "int16", step=f"layers.{name}.step")
        self.add_norm(constants, source, small=small, wide=wide)
        return small, wide

    def add_norm(self, constants: str, source: View, **outputs: View) -> None:
        """A normalization with `outputs` by their names in the model."""
        self.builder.layernorm(
            constants.removeprefix("layers."),
            source,
            [self.normalized(f"{constants}.{name}", out) for name, out in outputs.items()],
            epsilon=int(self.model.scalar(f"{constants}.epsilon")),
        )

    def normalized(self, constants: str, out: View) -> Normalized:
        gamma, beta = self.constant(f"{constants}.gamma"), self.constant(f"{constants}.beta")
        return Normalized(out, gamma, beta, self.model.integer(f"{constants}.shift"))

    def sum(self, index: int, small: View, wide: View) -> View:
        """Layer `index` but its last normalization."""
        context = self.attention(index, small)
        total = self.add(index, "output", "attention_sum", context, wide)
        name = f"{index}.attention"
        small, wide = self.norm(f"layers.{index}.attention_norm", total, name)
        hidden = self.tensor(f"{index}.hidden", "uint8", cols=self.shape.hidden)
        finish = Activation(
            "gelu" if self.model.integer(f"layers.{index}.hidden.gelu") else "silu",
            self.constant(f"layers.{index}.up.scale"),
            self.model.scalar(f"layers.{index}.hidden.scale"),
            self.model.integer(f"layers.{index}.hidden.zero_point"),
        )
        self.linear(index, "up", small, hidden, finish)
        return self.add(index, "down", "sum", hidden, wide)

    def linear(self, index: int, name: str, a: View, out: View, finish: Finish) -> View:
        constants = f"layers.{index}.{name}"
        weights, bias = self.constant(f"{constants}.weights"), self.constant(f"{constants}.bias")
        return self.builder.matmul(f"{index}.{name}", out, a, weights, finish, bias=bias)

    def add(self, index: int, name: str, sum_name: str, a: View, residual: View) -> View:
        """A product that is added to the residual stream."""
        constants = f"layers.{index}.{name}"
        out = self.tensor(f"{index}.{sum_name}", "int16", step=f"layers.{index}.{sum_name}.step")
        scale = self.constant(f"{constants}.scale")
        residual_scale = self.model.scalar(f"{constants}.residual_scale")
        return self.linear(index, name, a, out, AddResidual(scale, residual, residual_scale))

    def attention(self, index: int, small: View) -> View:
        views = []
        for name in ("query", "key", "value"):
            out = self.tensor(f"{index}.{name}", "int8")
            scale = self.constant(f"layers.{index}.{name}.scale")
            views.append(self.linear(index, name, small, out, Requantize(scale)))
        context = self.tensor(f"{index}.context", "int8")
        for text, rows in enumerate(segments(self.lengths)):
            q, k, v, out = (
                view.part(row=rows.start, rows=self.lengths[text]) for view in (*views, context)
            )
            self.attend(index, f"text{text}", q, k, v, out)
        return context

    def attend(self, index: int, text: str, q: View, k: View, v: View, context: View) -> None:
        """Attention of one text: for each head, a block of rows of numerators and of sums."""
        model, heads, width = self.model, self.shape.heads, self.shape.head_width
        rows = q.rows
        numerators = self.builder.tensor(
            Tensor(f"{index}.numerators.{text}", "uint8", heads * rows, rows)
        )
        sums = self.builder.tensor(Tensor(f"{index}.sums.{text}", "int32", heads * rows, 1))
        score_scales = model.tensors[f"layers.{index}.scores.scale"][0]
        context_scale = model.scalar(f"layers.{index}.context.scale")
        for head in range(heads):
            end = f"{text}.head{head}"
            one = numerators.part(row=head * rows, rows=rows)
            totals = sums.part(row=head * rows, rows=rows)
            qh, kh, vh, out = (
                view.part(col=head * width, cols=width) for view in (q, k, v, context)
            )
            finish = DeferredSoftmax(float(score_scales[head]), totals)
            self.builder.matmul(f"{index}.scores.{end}", one, qh, kh, finish, b_transposed=True)
            finish = DivideBySums(totals, context_scale)
            self.builder.matmul(f"{index}.context.{end}", out, one, vh, finish)
