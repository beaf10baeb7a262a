"""The small language model, pruned: its parts, and the narrower weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.lab.prune.parts.part import Gram, Part, kept_columns, repaired
from celosia.lab.prune.pruned import Wanted
from celosia.sw.decoding.step_graph import step_graph
from celosia.sw.decoding.texts import Text
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.models.decoder_graph import llama_float_graph
from celosia.sw.reference.encoder import Floats, Linear
from celosia.sw.reference.language.shape import LayerShape, LlamaShape
from celosia.sw.reference.language.weights import LlamaWeights

__all__ = ["Calibrated", "calibrate", "prune_llama", "readers", "zero_llama"]

_MATRICES: Final = ("query", "key", "value", "output", "gate", "up", "down")


@dataclass(frozen=True, eq=False)
class Calibrated:
    """What calibration tells of a model."""

    grams: Mapping[str, Gram]
    """Products of the columns that each reader reads, by its name."""
    changes: Mapping[str, NDArray[Any]] | None = None
    """How much the loss of each window changes with each of them; None: it was not asked for."""


def readers(shape: LlamaShape, *, all_of: bool = False) -> list[str]:
    """The matrices that read what can be made narrower, or `all_of` each layer's."""
    names = _MATRICES if all_of else ("output", "down")
    return [f"{index}.{name}" for index in range(len(shape.layers)) for name in names]


def calibrate(
    weights: LlamaWeights, windows: Sequence[Sequence[int]], names: Sequence[str]
) -> dict[str, Gram]:
    """The Gram matrices of what matrices of these names read, in the float graph."""
    shape = weights.shape
    grams = {name: Gram(len(weights[name])) for name in names}
    graph = llama_float_graph(weights, shape.context)
    for window in windows:
        step = step_graph(graph, [Text(0, len(window))])
        read: dict[str, list[Gram]] = {}
        for node in step.graph.nodes:
            if node.name in grams:
                read.setdefault(node.inputs[0], []).append(grams[node.name])

        def observe(name: str, value: Floats, read: Mapping[str, list[Gram]] = read) -> None:
            for gram in read.get(name, ()):
                gram.add(value.reshape(-1, value.shape[-1]))

        interpret(step.graph, step.inputs(window, [Text(0, len(window))]), observe)
    return grams


def prune_llama(weights: LlamaWeights, found: Calibrated, wanted: Wanted) -> LlamaWeights:
    """`weights` with fewer channels and heads in each layer.

    Raises `InputError` for a share that leaves nothing, or removes nothing.
    """
    tensors, layers = dict(weights.tensors), list(weights.shape.layers)
    for index, layer in enumerate(layers):
        cut = _Cut(tensors, f"{index}.", found, wanted)
        layers[index] = cut.channels(cut.heads(layer))
    return LlamaWeights(replace(weights.shape, layers=tuple(layers)), tensors)


def zero_llama(weights: LlamaWeights, found: Calibrated, wanted: Wanted) -> LlamaWeights:
    """`weights` with tiles of zeros in each matrix of its layers.

    Raises `InputError` for a share that leaves nothing, or removes nothing.
    """
    tensors = dict(weights.tensors)
    for name in readers(weights.shape, all_of=True):
        none = np.zeros(tensors[name].shape[1], np.float32)
        linear = Linear(tensors[name], none)
        tensors[name] = wanted.without_tiles(linear, found.grams[name], bias=False).weights
    return LlamaWeights(weights.shape, tensors)


@dataclass(frozen=True, eq=False)
class _Cut:
    """One layer in the making."""

    tensors: dict[str, Floats]
    prefix: str
    found: Calibrated
    wanted: Wanted

    def heads(self, layer: LayerShape) -> LayerShape:
        """The layer with fewer heads, and their keys and values."""
        if self.wanted.heads is None:
            return layer
        together, width = layer.heads // layer.key_heads, layer.head_width
        kept = self.wanted.heads.heads(layer.heads, together) // together
        value = np.linalg.norm(self.tensors[f"{self.prefix}value"], axis=0)
        each = np.repeat(value.reshape(layer.key_heads, 1, width), together, axis=1)
        columns = self.read("output", each.ravel(), together * width, kept)
        groups = columns[:: together * width] // (together * width)
        keys = (groups[:, None] * width + np.arange(width)).ravel()
        self.narrow(("query",), columns)
        self.narrow(("key", "value"), keys)
        return replace(layer, heads=kept * together, key_heads=kept)

    def channels(self, layer: LayerShape) -> LayerShape:
        """The layer with fewer hidden channels."""
        if self.wanted.ffn is None:
            return layer
        kept = self.wanted.ffn.channels(layer.hidden, self.wanted.dim)
        gate, up = (
            np.linalg.norm(self.tensors[f"{self.prefix}{name}"], axis=0) for name in ("gate", "up")
        )
        self.narrow(("gate", "up"), self.read("down", gate * up, 1, kept))
        return replace(layer, hidden=kept)

    def read(self, name: str, made: Floats, unit: int, units: int) -> NDArray[np.intp]:
        """The columns that the reader of this name keeps, which has fewer rows from now on."""
        name = self.prefix + name
        part = Part(
            unit=unit,
            made=made,
            reader=self.tensors[name],
            gram=self.found.grams[name],
            changes=None if self.found.changes is None else self.found.changes[name],
        )
        columns = kept_columns(part, self.wanted.criterion, units)
        self.tensors[name] = part.reader[columns]
        if self.wanted.repair:
            self.tensors[name], _ = repaired(part, columns, bias=False)
        return columns

    def narrow(self, names: Sequence[str], columns: NDArray[np.intp]) -> None:
        """Keep these columns of matrices."""
        for name in names:
            self.tensors[self.prefix + name] = self.tensors[self.prefix + name][:, columns]
