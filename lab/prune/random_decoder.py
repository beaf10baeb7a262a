"""Decoders of known sizes without weights, as what can be pruned: cycles and bytes alone."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from celosia.lab.prune.costs import Meter, decoder_costs
from celosia.lab.prune.parts.part import CRITERIA, Criterion
from celosia.lab.prune.pruned import Narrower, Wanted
from celosia.sim.support.problems import InputError
from celosia.sw.decoding.texts import Text
from celosia.sw.models.decoder_graph import decoder_float_graph
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.reference.encoder import Floats

__all__ = ["RandomDecoder"]

_EPSILON: Final = 1e-5
_LONGEST: Final = Text(128, 1).keys


class RandomDecoder:
    """One layer of a decoder of this shape: its layers are alike."""

    criteria: Sequence[Criterion] = CRITERIA
    reason = ""

    def __init__(self, name: str, shape: DecoderShape, meter: Meter):
        self.name, self.shape, self.meter = name, shape.with_layers(1), meter

    def check_output(self, output: Path) -> None:
        """Nothing is written of it."""
        raise InputError(f"-o {output}: {self.name} has sizes and no weights to write")

    def check(self, wanted: Wanted) -> None:
        """Refuse shares that leave or remove nothing."""
        wanted.check_smaller(self.name)
        self._narrower(wanted)

    def check_trained(self, option: str) -> None:
        """Nothing is trained of it."""
        raise InputError(f"{option}: {self.name} has sizes and no weights to train")

    def as_it_was(self) -> Narrower:
        """One layer."""
        return self._measured(self.shape)

    def pruned(self, wanted: Wanted) -> Narrower:
        """One layer with less."""
        return self._measured(self._narrower(wanted))

    def _narrower(self, wanted: Wanted) -> DecoderShape:
        (layer,) = self.shape.layers
        if wanted.heads is not None:
            together = layer.heads // layer.key_heads
            heads = wanted.heads.heads(layer.heads, together)
            layer = replace(layer, heads=heads, key_heads=heads // together)
        if wanted.ffn is not None:
            layer = replace(layer, hidden=wanted.ffn.channels(layer.hidden, wanted.dim))
        return replace(self.shape, layers=(layer,))

    def _measured(self, shape: DecoderShape) -> Narrower:
        graph = decoder_float_graph(shape, _ones, _LONGEST, _EPSILON, whole=False)
        return Narrower(
            weights=shape.layer_weights, quality={}, costs=decoder_costs(self.meter, graph)
        )


def _ones(_name: str, size: tuple[int, ...]) -> Floats:
    """A tensor whose numbers do not matter."""
    return np.ones(size, np.float32)
