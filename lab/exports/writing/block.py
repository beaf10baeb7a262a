"""The modules of a transformer with seeded weights, named as their place in the model."""

from copy import copy

import numpy as np

from celosia.lab.exports.writing.modules import gemm, layer_norm, linear, raised_rms_norm, rms_norm
from celosia.lab.exports.writing.size import Size
from celosia.lab.exports.writing.tape import Tape
from celosia.lab.exports.writing.weights import HIDDEN_POWER, Floats, Weights

__all__ = ["Block"]


class Block:
    """Writes modules to a tape, with the weights that their names have in `source`."""

    def __init__(self, tape: Tape, size: Size, seed: int, *, prefix: str = "", biased: bool = True):
        self.tape = tape
        self.size = size
        self.source = Weights(seed, size.width)
        self._prefix = prefix
        self._biased = biased

    def layer(self, index: int) -> "Block":
        """The modules of one layer, which may have sizes of its own."""
        found = copy(self)
        found.size = self.size.layer(index)
        return found

    def name(self, path: str) -> str:
        """The name of what is at `path` below the module that is being written."""
        path = path.replace("/", ".")
        return ".".join(part for part in (self._prefix, self.tape.module, path) if part)

    def lookup(self, path: str, indices: str, rows: int, spread: float = 1) -> str:
        """Rows of an embedding."""
        table = self.source.embedding(self.name(f"{path}.weight"), rows, spread)
        return self._gather(path, indices, table)

    def lookup_words(self, path: str, indices: str) -> str:
        """Rows of a table of words that `head` reads again."""
        table = self.source.words(self.name(f"{path}.weight"), self.size.vocabulary)
        return self._gather(path, indices, table)

    def head(self, path: str, x: str, words: str) -> str:
        """Logits by the table named `words`, which the exporter has transposed."""
        table = self.source.words(words, self.size.vocabulary)
        return linear(self.tape, path, x, table.T)

    def score(self, path: str, x: str, outputs: int, scale: float = 1, *, bias: bool = True) -> str:
        """A projection to queries or keys."""
        weights = self.source.scoring(self.name(f"{path}.weight"), outputs, scale)
        return self._linear(path, x, weights, bias=bias)

    def read(self, path: str, x: str, outputs: int, *, bias: bool = True) -> str:
        """A projection of what a norm gives."""
        weights = self.source.reading(self.name(f"{path}.weight"), outputs)
        return self._linear(path, x, weights, bias=bias)

    def read_heads(self, path: str, x: str) -> str:
        """A projection to queries, keys and values, those of each head beside each other."""
        width, heads = self.size.width, self.size.heads
        names = [self.name(f"{path}.{part}") for part in ("query", "key", "value")]
        matrices = [self.source.scoring(name, width, 1) for name in names[:2]]
        matrices.append(self.source.reading(names[2], width))
        biases = [self.source.bias(f"{name}.bias") for name in names]
        weights, bias = (
            np.stack([each.reshape(*each.shape[:-1], heads, -1) for each in parts], axis=-2)
            for parts in (matrices, biases)
        )
        return linear(self.tape, path, x, weights.reshape(width, -1), bias.reshape(-1))

    def join(
        self, path: str, x: str, inputs: int, power: float = HIDDEN_POWER, *, bias: bool = True
    ) -> str:
        """A projection that is added to the residual stream."""
        weights = self.source.joining(self.name(f"{path}.weight"), inputs, power)
        return self._linear(path, x, weights, bias=bias, joins=True)

    def read_rows(self, path: str, x: str, outputs: int) -> str:
        """A projection of a matrix of rows of what a norm gives, by Gemm."""
        weights = self.source.reading(self.name(f"{path}.weight"), outputs)
        bias = self.source.bias(self.name(f"{path}.bias"), outputs)
        return gemm(self.tape, path, x, weights, bias)

    def join_rows(self, path: str, x: str, inputs: int, power: float = HIDDEN_POWER) -> str:
        """A projection of a matrix of rows that is added to the residual stream, by Gemm."""
        weights = self.source.joining(self.name(f"{path}.weight"), inputs, power)
        bias = self.source.joining_bias(self.name(f"{path}.bias"))
        return gemm(self.tape, path, x, weights, bias)

    def layer_norm(self, path: str, x: str, epsilon: float = 1e-5) -> str:
        """A LayerNorm."""
        gamma = self.source.gamma(self.name(f"{path}.weight"))
        beta = self.source.bias(self.name(f"{path}.bias"))
        return layer_norm(self.tape, path, x, gamma, beta, epsilon)

    def rms_norm(self, path: str, x: str, epsilon: float = 1e-6, size: int | None = None) -> str:
        """An RMSNorm of rows of so many elements, the model's width if that is not said."""
        gamma = self.source.gamma(self.name(f"{path}.weight"), size)
        return rms_norm(self.tape, path, x, gamma, epsilon)

    def raised_rms_norm(self, path: str, x: str, epsilon: float = 1e-6) -> str:
        """An RMSNorm that stores how much its factors are above 1."""
        gamma = self.source.gamma(self.name(f"{path}.weight")) - 1
        return raised_rms_norm(self.tape, path, x, gamma, epsilon)

    def _gather(self, path: str, indices: str, table: Floats) -> str:
        name = self.name(f"{path}.weight")
        with self.tape.inside(path):
            return self.tape.op("Gather", self.tape.weight(name, table), indices)

    def _linear(
        self, path: str, x: str, weights: Floats, *, bias: bool = True, joins: bool = False
    ) -> str:
        offsets = None
        if bias and self._biased:
            name = self.name(f"{path}.bias")
            if joins:
                offsets = self.source.joining_bias(name)
            else:
                offsets = self.source.bias(name, weights.shape[1])
        return linear(self.tape, path, x, weights, offsets)
