"""Perplexities of a supernet's parts, each computed once (JAX)."""

# pyright: reportMissingImports=false
# JAX is an extra, which most do not install.

from dataclasses import asdict
from typing import Any

import jax
import numpy as np

from celosia.lab.nas.models.space import Space
from celosia.lab.nas.models.supernet import likelihoods
from celosia.lab.nas.models.supernet_file import Supernet
from celosia.lab.nas.models.texts import Texts
from celosia.lab.sweep.lines import Lines
from celosia.sim.support.cache import digest
from celosia.sw.reference.language.shape import LlamaShape
from celosia.sw.reference.language.shape_document import shape_document

__all__ = ["Scores"]


class Scores:
    """The perplexity of the first so many tokens of validation text, kept in `lines`."""

    def __init__(self, supernet: Supernet, space: Space, texts: Texts, tokens: int, lines: Lines):
        self._tensors: Any = jax.device_put(dict(supernet.tensors))
        self._largest, self._lines = space.largest, lines
        self._tokens = texts.validation[: tokens + 1]
        self._key = f"{supernet.key} {tokens}"

    def __call__(self, model: LlamaShape) -> float:
        """The perplexity of a model with the supernet's weights."""
        key = f"score {digest([self._key, repr(asdict(model))])}"
        if key not in self._lines.known:
            found = likelihoods(self._tensors, self._largest, model, self._tokens)
            perplexity = float(np.exp(-found.mean(dtype=float)))
            self._lines.add({"key": key, **shape_document(model), "perplexity": perplexity})
        return float(self._lines.known[key]["perplexity"])
