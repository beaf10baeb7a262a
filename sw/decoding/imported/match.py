"""Finds a stack of decoder layers in a float graph, from its logits up to its embeddings.

The graph's units (`celosia.sw.quantize.graphs.find_units`) already are products, norms, curves and
attention, however they are written.  What is left to see is whether they follow each other as in
GPT-2, OPT or Llama, and which columns of which product are whose.  Whatever they are called, their
weights are taken; and the decoder that comes out is computed beside the graph.
"""

from typing import Final

import numpy as np

from celosia.sw.decoding.imported.attention import AttentionParts, attention_parts
from celosia.sw.decoding.imported.embedding import embedding_tables
from celosia.sw.decoding.imported.problem import DecoderProblem
from celosia.sw.decoding.imported.read import TOKENS
from celosia.sw.decoding.imported.stack import Stack
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.ir.graph import View
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.quantize.graphs.units import (
    Attention,
    Finishing,
    Multiplication,
    Normalization,
    Product,
)
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.decoder import Cache, DecoderWeights, forward
from celosia.sw.reference.language.shape import ROTARY_BASE, Form

__all__ = ["match_decoder"]

_NEAR: Final = 1e-3
"""How far logits may be from the graph's, as a share of the largest one."""
_RMS: Final = "RMSNorm"


def match_decoder(graph: FloatGraph) -> DecoderWeights:
    """The decoder that `graph` is the prefill of.

    `graph` is as `read_decoder` makes it.  Raises `DecoderProblem` that names the node that does
    not belong to one, and why.
    """
    found = _Matcher(graph).run()
    _check(graph, found)
    return found


class _Matcher:
    """Walks up from the logits, and collects weights."""

    def __init__(self, graph: FloatGraph):
        self.stack = Stack(graph)
        self.tensors: dict[str, Floats] = {}
        self.attentions: list[AttentionParts] = []
        # What all layers must have the same, each with a node that says so.
        self.forms: dict[Form, str] = {}
        self.hidden: dict[int, str] = {}
        self.epsilons: dict[float, str] = {}
        self.norms: dict[str, str] = {}
        self.tanh = False

    def run(self) -> DecoderWeights:
        stack = self.stack
        (output,) = stack.reader.graph.outputs.values()
        last = stack.whole(output, Product, "the product that makes the logits")
        if last.linear.bias.any():
            raise stack.problem(last, "the product that makes the logits has a bias")
        stream = self._norm(last.x, "norm")
        layers: list[tuple[Finishing, Finishing]] = []
        while (add := stack.unit(stream)) is not None:
            down = stack.expect(add, Finishing, "the sum behind a feed-forward network")
            stream = stack.residual(down)
            between = stack.at(stream, Finishing, "the sum behind attention")
            stream = stack.residual(between)
            layers.append((down, between))
        if not layers:
            raise stack.unknown(stream, "there are no layers: the norm before the logits reads it")
        for index, (down, between) in enumerate(reversed(layers)):
            self._attention(index, between)
            self._feed_forward(index, down, stack.residual(down))
        table, positions = embedding_tables(stack, stack.tensor(stream))
        return self._finish(last, table, positions)

    def _finish(self, last: Product, table: Floats, positions: Floats | None) -> DecoderWeights:
        first = self._alike()
        (form,), (hidden,), (epsilon,) = self.forms, self.hidden, self.epsilons
        matrix = last.linear.weights
        if len(table) != matrix.shape[1]:
            count = f"there are {matrix.shape[1]} logits for {len(table)} tokens"
            raise self.stack.problem(last, count)
        self.tensors["embedding"] = table
        if not np.array_equal(table.T, matrix):
            self.tensors["vocabulary"] = matrix
        if positions is not None:
            self.tensors["positions"] = positions
        try:
            shape = DecoderShape(
                form=form,
                layers=len(self.attentions),
                width=table.shape[1],
                heads=first.heads,
                key_heads=first.key_heads,
                hidden=hidden,
                vocabulary=len(table),
                rotary_base=first.rotary_base or ROTARY_BASE,
            )
        except ValueError as error:
            raise DecoderProblem(f"{first.node}: {error}") from None
        if shape.head_width != first.width:
            heads = f"{first.heads} heads of {first.width} columns"
            raise DecoderProblem(f"{first.node}: {heads} are not the width of {shape.width}")
        return DecoderWeights(shape, self.tensors, epsilon, self.tanh)

    def _alike(self) -> AttentionParts:
        """The first layer's attention, if all layers are alike, and the form is known."""
        for what, found in (
            ("feed-forward networks", self.forms),
            ("hidden sizes", self.hidden),
            ("norms", self.norms),
            ("epsilons", self.epsilons),
        ):
            if len(found) > 1:
                listed = ", ".join(f"{value} ({node})" for value, node in found.items())
                raise DecoderProblem(f"its {what} are not all alike: {listed}")
        first = self.attentions[0]
        for each in self.attentions:
            if each.kind != first.kind:
                raise DecoderProblem(f"{each.node}: its heads are not like those of other layers")
        ((form, node),) = self.forms.items()
        (norm,) = self.norms
        if (norm == _RMS) != (form == "llama"):
            raise DecoderProblem(f"{node}: {norm} before such a network is no known form")
        if (first.rotary_base is not None) != (form == "llama"):
            rotary = "rotary positions" if first.rotary_base else "no rotary positions"
            raise DecoderProblem(f"{first.node}: {rotary} with {norm} are no known form")
        return first

    def _norm(self, view: View, name: str) -> View:
        """Take the normalization that makes an operand; returns what it normalizes."""
        stack = self.stack
        unit = stack.at(view, Normalization, "a norm")
        self.tensors[name] = unit.norm.gamma
        if unit.norm.beta.any():
            self.tensors[f"{name}.beta"] = unit.norm.beta
        self.epsilons[unit.epsilon] = stack.label(unit)
        self.norms[_RMS if unit.rms else "LayerNorm"] = stack.label(unit)
        return unit.x

    def _linear(self, name: str, weights: Floats, bias: Floats) -> None:
        self.tensors[name] = weights
        if bias.any():
            self.tensors[f"{name}.bias"] = bias

    def _attention(self, index: int, added: Finishing) -> None:
        stack, stream = self.stack, self.stack.residual(added)
        product = added.product
        unit = stack.at(product.x, Attention, "attention")
        parts = attention_parts(stack, unit)
        for name, linear in parts.linears.items():
            self._linear(f"{index}.{name}", linear.weights, linear.bias)
        self._linear(f"{index}.output", product.linear.weights, product.linear.bias)
        if self._norm(parts.x, f"{index}.attention_norm") != stream:
            raise stack.problem(unit, "it is not added to the stream that it reads")
        self.attentions.append(parts)

    def _feed_forward(self, index: int, added: Finishing, stream: View) -> None:
        stack, product = self.stack, added.product
        between = stack.unit(product.x)
        names = {"down": product}
        if isinstance(between, Multiplication):
            gate, up = self._gated(between)
            names |= {"gate": gate.product, "up": up}
            form: Form = "llama"
        elif isinstance(between, Finishing) and between.function in {"gelu", "relu"}:
            names["up"] = between.product
            form = "gpt2" if between.function == "gelu" else "opt"
            self.tanh = self.tanh or stack.attribute(between, "form") == "tanh"
        else:
            raise stack.unknown(product.x, "it is no GELU, no ReLU and no gated SiLU of a product")
        self.forms[form] = stack.label(product)
        for name, part in names.items():
            self._linear(f"{index}.{name}", part.linear.weights, part.linear.bias)
            if name != "down" and part.x != names["up"].x:
                raise stack.problem(part, "gate and what it lets through have different operands")
        self.hidden[names["up"].linear.bias.size] = stack.label(names["up"])
        if self._norm(names["up"].x, f"{index}.norm") != stream:
            raise stack.problem(product, "it is not added to the stream that the network reads")

    def _gated(self, unit: Multiplication) -> tuple[Finishing, Product]:
        """The gate, and the product that it lets through."""
        stack = self.stack
        pair = [stack.unit(view) for view in (unit.a, unit.b)]
        for gate, up in (pair, pair[::-1]):
            if not isinstance(gate, Finishing) or not isinstance(up, Product):
                continue
            if gate.function == "silu" and gate.alpha == 1:
                return gate, up
        raise stack.problem(unit, "it is not SiLU of a product times a product")


def _check(graph: FloatGraph, weights: DecoderWeights) -> None:
    """Raise `DecoderProblem` if `weights` do not compute what `graph` does."""
    kind = graph.inputs[TOKENS]
    tokens = np.random.default_rng(0).integers(0, weights.shape.vocabulary, kind.shape)
    found = interpret(graph, {TOKENS: tokens.astype(kind.dtype)})
    (wanted,) = found.values()
    wanted = wanted.reshape(-1, wanted.shape[-1])
    logits = forward(weights, tokens[0].tolist(), Cache(weights.shape, tokens.size))
    error = np.abs(logits[-len(wanted) :] - wanted).max()
    if not error <= _NEAR * np.abs(wanted).max():
        raise DecoderProblem(
            f"the decoder that its weights make has other logits: they differ by {error:.3g} of "
            f"{np.abs(wanted).max():.3g}"
        )
