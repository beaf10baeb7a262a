"""The float graph of an encoder, made from its weights, for texts of any lengths."""

from collections.abc import Sequence

import numpy as np

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.operator import GraphError, TensorType, expect
from celosia.sw.reference.encoder import (
    EPSILON,
    EncoderShape,
    EncoderWeights,
    LayerWeights,
    Linear,
    Norm,
    segments,
)

__all__ = ["Norms", "encoder_float_graph", "encoder_outline", "read_outline"]

Norms = tuple[tuple[Norm, Norm], ...]
"""The norms of each layer: behind its attention, and at its end."""


def encoder_float_graph(weights: EncoderWeights, lengths: Sequence[int]) -> FloatGraph:
    """The graph of `weights` behind `recognize`: input `embedding`, output `output`.

    Texts of `lengths` tokens stand below each other, a row for each token; each attends to itself.
    Tensors are named as `celosia.sw.reference.encoder.encode` names what it observes; origins are
    what integer graphs call operators.  Raises `ValueError` for no text, or one without tokens.
    """
    if not lengths or min(lengths) < 1:
        raise ValueError(f"lengths: {list(lengths)} are not those of one or more texts")
    encoder = _Encoder(weights.shape, lengths)
    kind = TensorType("float32", (encoder.rows, weights.shape.width))
    source = encoder.builder.input("embedding", kind)
    x = encoder.norm(source, "norm", weights.norm, "0.input")
    for index, layer in enumerate(weights.layers):
        total = encoder.layer(index, layer, x)
        last = index == weights.shape.layers - 1
        after = "output" if last else f"{index + 1}.input"
        x = encoder.norm(total, f"{index}.norm", layer.norm, after)
    return encoder.builder.finish({"output": x})


class _Encoder:
    """The graph in the making."""

    def __init__(self, shape: EncoderShape, lengths: Sequence[int]):
        self.shape, self.lengths, self.rows = shape, lengths, sum(lengths)
        self.builder = GraphBuilder(f"encoder of {shape} for {list(lengths)} tokens")

    def norm(self, x: str, origin: str, norm: Norm, name: str) -> str:
        gamma, beta = map(self.builder.constant, (norm.gamma, norm.beta))
        with self.builder.origin(origin):
            return self.builder.op(
                "layernorm", x, gamma, beta, name=name, axis=-1, epsilon=float(EPSILON)
            )

    def linear(self, x: str, linear: Linear, name: str) -> str:
        weights, bias = map(self.builder.constant, (linear.weights, linear.bias))
        product = self.builder.op("matmul", x, weights, name=f"{name}.product")
        return self.builder.op("add", product, bias, name=name)

    def layer(self, index: int, layer: LayerWeights, x: str) -> str:
        """A layer but for the norm at its end."""
        build, parts = self.builder, []
        for name in ("query", "key", "value"):
            with build.origin(f"{index}.{name}"):
                parts.append(self.linear(x, getattr(layer, name), f"{index}.{name}"))
        with build.origin(f"{index}"):
            context = self.attention(f"{index}.context", parts)
        with build.origin(f"{index}.output"):
            product = self.linear(context, layer.output, f"{index}.output")
            total = build.op("add", product, x, name=f"{index}.attention_sum")
        norm, name = f"{index}.attention_norm", f"{index}.attention"
        x = self.norm(total, norm, layer.attention_norm, name)
        with build.origin(f"{index}.up"):
            up = self.linear(x, layer.up, f"{index}.up")
            hidden = build.op("gelu", up, name=f"{index}.hidden", form="erf")
        with build.origin(f"{index}.down"):
            down = self.linear(hidden, layer.down, f"{index}.down")
            return build.op("add", down, x, name=f"{index}.sum")

    def attention(self, name: str, parts: Sequence[str]) -> str:
        """The contexts of all texts, one below the other."""
        contexts = []
        for text, rows in enumerate(segments(self.lengths)):
            found = self.builder.op(
                "attention",
                *(self.heads(part, rows) for part in parts),
                name=name if len(self.lengths) == 1 else f"{name}.text{text}",
                scale=float(1 / np.sqrt(self.shape.head_width)),
                causal=False,
                first_query=0,
            )
            found = self.builder.op("transpose", found, permutation=(0, 2, 1, 3))
            shape = (rows.stop - rows.start, self.shape.attention)
            contexts.append(self.builder.op("reshape", found, shape=shape))
        return self.builder.op("concat", *contexts, name=name, axis=0)

    def heads(self, part: str, rows: slice) -> str:
        """Queries, keys or values of a text: (1, heads, tokens, columns of a head)."""
        tokens = rows.stop - rows.start
        found = self.builder.op(
            "slice",
            part,
            starts=(rows.start, 0),
            sizes=(tokens, self.shape.attention),
            steps=(1, 1),
        )
        shape = (1, tokens, self.shape.heads, self.shape.head_width)
        found = self.builder.op("reshape", found, shape=shape)
        return self.builder.op("transpose", found, permutation=(0, 2, 1, 3))


def encoder_outline(shape: EncoderShape, norm: Norm, norms: Norms) -> EncoderWeights:
    """Weights of 0, and biases that are there: formats have their integers."""

    def linear(inputs: int, outputs: int) -> Linear:
        zero, one = np.zeros((), np.float32), np.ones((), np.float32)
        return Linear(np.broadcast_to(zero, (inputs, outputs)), np.broadcast_to(one, outputs))

    narrow = linear(shape.width, shape.attention)
    layers = tuple(
        LayerWeights(
            query=narrow,
            key=narrow,
            value=narrow,
            output=linear(shape.attention, shape.width),
            attention_norm=behind,
            up=linear(shape.width, shape.hidden),
            down=linear(shape.hidden, shape.width),
            norm=end,
        )
        for behind, end in norms
    )
    return EncoderWeights(shape=shape, norm=norm, layers=layers)


def read_outline(graph: FloatGraph) -> EncoderWeights:
    """The outline of the encoder that `encoder_float_graph` has made `graph` of, for one text.

    Raises `GraphError` for another graph.
    """
    nodes, layers = graph.producers(), 0
    while f"{layers}.context" in nodes:
        layers += 1
    ends = [*(f"{index}.input" for index in range(1, layers)), "output"]
    try:
        rows, width = graph.inputs["embedding"].shape
        _, heads, _, columns = graph.types()[nodes["0.context"].inputs[0]].shape
        hidden = nodes["0.hidden"].type.shape[1]
        outline = encoder_outline(
            EncoderShape(
                layers=layers, width=width, heads=heads, hidden=hidden, attention=heads * columns
            ),
            _norm(graph, nodes["0.input"]),
            tuple(
                (_norm(graph, nodes[f"{index}.attention"]), _norm(graph, nodes[end]))
                for index, end in enumerate(ends)
            ),
        )
        made = encoder_float_graph(outline, [rows])
    except (LookupError, ValueError):
        raise GraphError("its graph is no encoder of texts") from None
    same = (made.inputs, made.nodes, made.outputs) == (graph.inputs, graph.nodes, graph.outputs)
    expect(same, "its graph is no encoder of texts")
    return outline


def _norm(graph: FloatGraph, node: Node) -> Norm:
    gamma, beta = (graph.constants[name] for name in node.inputs[1:])
    return Norm(gamma, beta)
