"""A text that a decoder goes on with in float32: what integers are held against."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np

from celosia.sw.decoding.decoder import check_shorter, check_tokens, vocabulary_of
from celosia.sw.decoding.problem import DecoderProblem
from celosia.sw.decoding.step_graph import TOKENS, StepGraph, step_graph
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.reference.encoder import Floats

__all__ = ["FloatSession", "check_steps"]

_NEAR: Final = 1e-3
"""How far logits may be from each other that are the same, as a share of the largest one."""
_PIECES: Final = (5, 1, 2)
"""Tokens of the steps that are tried."""


class FloatSession:
    """One text of up to `context` tokens; `graph` is that of a whole one (`step_graph`)."""

    def __init__(self, graph: FloatGraph, context: int):
        self.graph, self.length = graph, 0
        self._layout = CacheLayout(1, context)
        self._caches: dict[str, Array] = {}

    def append(self, tokens: Sequence[int]) -> Floats:
        """The logits (tokens x vocabulary) of what follows each of `tokens`.

        Raises `ValueError` for no tokens, more than the context has room for, or one outside the
        vocabulary.
        """
        check_tokens(tokens, self.length, self._layout.capacity, vocabulary_of(self.graph))
        text = Text(self.length, len(tokens))
        step = step_graph(self.graph, [text], self._layout)
        for name in step.caches:
            kind = step.graph.inputs[name]
            self._caches.setdefault(name, np.zeros(kind.shape, kind.dtype))
        behind = dict(_behind(step))
        shown = replace(step.graph, outputs={**step.graph.outputs, **behind})
        found = interpret(shown, {**step.inputs(tokens, [text]), **self._caches})
        self._caches = {name: found[name] for name in behind}
        self.length = text.keys
        (output,) = step.graph.outputs
        return found[output].reshape(len(tokens), -1)

    def go_back(self, length: int) -> None:
        """Forget all tokens behind the first `length`.

        Raises `ValueError` for a length that the text does not have.
        """
        check_shorter(length, self.length)
        self.length = length


def _behind(step: StepGraph) -> Iterator[tuple[str, str]]:
    """Each cache with the tensor that it is behind the step."""
    for node in step.graph.nodes:
        if node.op == "cache":
            yield node.inputs[0], node.name


def check_steps(graph: FloatGraph) -> None:
    """Raise `DecoderProblem` if steps of a text have other logits than the text as a whole."""
    kind = graph.inputs[TOKENS]
    vocabulary = vocabulary_of(graph)
    tokens = np.random.default_rng(0).integers(0, vocabulary, kind.shape).astype(kind.dtype)
    (wanted,) = interpret(graph, {TOKENS: tokens}).values()
    wanted = wanted.reshape(-1, vocabulary)
    text, session = tokens[0].tolist(), FloatSession(graph, kind.shape[1])
    if len(wanted) < len(text):  # A file that gives the last token's logits alone.
        found = session.append(text)[-len(wanted) :]
    else:
        ends = np.minimum(np.cumsum((0, *_PIECES)), len(text))
        pieces = (text[start:end] for start, end in pairwise(ends.tolist()) if end > start)
        found = np.concatenate([*map(session.append, pieces)])
        wanted = wanted[: len(found)]
    error = float(np.abs(found - wanted).max())
    if not error <= _NEAR * np.abs(wanted).max():
        raise DecoderProblem(
            f"its steps have other logits than a whole text: they differ by {error:.3g} of "
            f"{np.abs(wanted).max():.3g}"
        )
