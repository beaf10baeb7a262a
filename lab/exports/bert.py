"""BERT, as torch's exporter by tracing writes it: opset 13 or 17, eager attention or SDPA."""

from typing import Any, Literal, Protocol

import numpy as np
from onnx import TensorProto

from celosia.lab.exports.writing import attention, masks
from celosia.lab.exports.writing.modules import gelu, layer_norm, linear
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import CONTEXT_POWER, Floats, Weights

__all__ = ["EPSILON", "TOKENS", "Attention", "BertWeights", "NamedWeights", "bert", "write_encoder"]

EPSILON = 1e-12
TOKENS = ("batch", "sequence")

Attention = Literal["eager", "sdpa", "sdpa, boolean mask"]


class NamedWeights(Protocol):
    """Weights by the names that transformers gives them; matrices are (inputs, outputs)."""

    @property
    def size(self) -> Size: ...

    def __getitem__(self, name: str, /) -> Floats: ...


class BertWeights:
    """Seeded `NamedWeights` of a BERT."""

    def __init__(self, size: Size, seed: int):
        self.size = size
        self.source = Weights(seed, size.width)

    def __getitem__(self, name: str) -> Floats:
        module, _, kind = name.rpartition(".")
        if "LayerNorm" in module:
            return self.source.gamma(name) if kind == "weight" else self.source.bias(name)
        if module.startswith("embeddings"):
            return self._table(name)
        return self._matrix(name) if kind == "weight" else self._bias(name)

    def _table(self, name: str) -> Floats:
        rows = {"word": self.size.vocabulary, "position": self.size.positions, "token_type": 2}
        part = name.removeprefix("embeddings.").removesuffix("_embeddings.weight")
        return self.source.embedding(name, rows[part], 1 if part == "word" else 0.3)

    def _matrix(self, name: str) -> Floats:
        width, hidden = self.size.width, self.size.hidden
        if "attention.output.dense" in name:
            return self.source.joining(name, width, CONTEXT_POWER)
        if "output.dense" in name:
            return self.source.joining(name, hidden)
        if "intermediate" in name or "value" in name:
            return self.source.reading(name, hidden if "intermediate" in name else width)
        return self.source.scoring(name, width, 1)

    def _bias(self, name: str) -> Floats:
        if "output.dense" in name:
            return self.source.joining_bias(name)
        return self.source.bias(name, self.size.hidden if "intermediate" in name else None)


def bert(size: Size, seed: int, *, opset: int = 13, form: Attention = "eager") -> Any:
    """The model: token numbers, mask and token types in, the last hidden state out."""
    return write_encoder(BertWeights(size, seed), f"bert, {form}", opset, form)


def write_encoder(weights: NamedWeights, name: str, opset: int, form: Attention) -> Any:
    """A BERT with the weights that `weights` has by their names."""
    tape, size = Tape(name, opset), weights.size
    inputs = [tape.input(name, TensorProto.INT64, TOKENS) for name in _INPUTS]
    length = tape.size(inputs[0], 1)
    x = _embeddings(tape, weights, inputs[0], inputs[2], length)
    mask = _mask(tape, form, inputs[1], length)
    for layer in range(size.layers):
        with tape.inside(f"encoder/layer.{layer}"):
            x = _layer(tape, weights, x, mask, form)
    tape.output(x, "last_hidden_state", (*TOKENS, size.width))
    return tape.model()


_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def _embeddings(tape: Tape, weights: NamedWeights, tokens: str, kinds: str, length: str) -> str:
    with tape.inside("embeddings"):
        numbers = tape.constant(np.arange(weights.size.positions)[np.newaxis])
        positions = tape.slice(numbers, 0, length, 1)
        words, types, places = (
            _lookup(tape, weights, f"{name}_embeddings", indices)
            for name, indices in (("word", tokens), ("token_type", kinds), ("position", positions))
        )
        total = tape.op("Add", tape.op("Add", words, types), places)
        return _norm(tape, weights, total)


def _lookup(tape: Tape, weights: NamedWeights, path: str, indices: str) -> str:
    with tape.inside(path):
        name = f"{tape.module}.weight"
        return tape.op("Gather", tape.weight(name, weights[name]), indices)


def _mask(tape: Tape, form: Attention, mask: str, length: str) -> str:
    if form == "eager":
        return masks.padding(tape, mask)
    if form == "sdpa":
        return masks.padding_expanded(tape, mask, length)
    return masks.padding_allowed(tape, mask, length)


def _layer(tape: Tape, weights: NamedWeights, x: str, mask: str, form: Attention) -> str:
    with tape.inside("attention"):
        context = _attention(tape, weights, x, mask, form)
        with tape.inside("output"):
            x = _norm(tape, weights, tape.op("Add", _dense(tape, weights, context), x))
    with tape.inside("intermediate"):
        hidden = _dense(tape, weights, x)
        with tape.inside("intermediate_act_fn"):
            hidden = gelu(tape, hidden)
    with tape.inside("output"):
        return _norm(tape, weights, tape.op("Add", _dense(tape, weights, hidden), x))


def _attention(tape: Tape, weights: NamedWeights, x: str, mask: str, form: Attention) -> str:
    size = weights.size
    with tape.inside("self"):
        batch = tape.size(x, 0)
        shape = (batch, -1, size.heads, size.head_width)
        queries = attention.split(tape, _dense(tape, weights, x, "query"), *shape)
        keys = attention.split(tape, _dense(tape, weights, x, "key"), *shape, transpose=False)
        values = attention.split(tape, _dense(tape, weights, x, "value"), *shape)
        operands = attention.Operands(queries, keys, values, size.head_width)
        if form == "eager":
            context = attention.eager(tape, operands, mask, divisor=size.head_width**0.5)
        elif form == "sdpa":
            context = attention.sdpa(tape, operands, mask)
        else:
            bias = attention.boolean_bias(tape, mask)
            context = attention.sdpa(tape, operands, bias, guard=True)
        return attention.merge(tape, context, tape.size(x, 0), tape.size(x, 1), size.width)


def _dense(tape: Tape, weights: NamedWeights, x: str, path: str = "dense") -> str:
    module = f"{tape.module}.{path}"
    return linear(tape, path, x, weights[f"{module}.weight"], weights[f"{module}.bias"])


def _norm(tape: Tape, weights: NamedWeights, x: str) -> str:
    module = f"{tape.module}.LayerNorm"
    gamma, beta = weights[f"{module}.weight"], weights[f"{module}.bias"]
    return layer_norm(tape, "LayerNorm", x, gamma, beta, EPSILON)
