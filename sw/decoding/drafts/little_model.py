"""Guesses by a little model of the same tokens, in float32 on the host."""

from collections.abc import Sequence

import numpy as np

from celosia.sw.decoding.drafts.draft import Guess
from celosia.sw.decoding.float_session import FloatSession
from celosia.sw.frontend.nn.graph import FloatGraph

__all__ = ["LittleModel"]


class LittleModel:
    """The most probable token of a decoder, for texts of up to `context` tokens.

    `graph` is that of a whole text (`step_graph`).  What a text has in common with the one before
    is not computed again.
    """

    def __init__(self, graph: FloatGraph, context: int):
        self._session, self._context = FloatSession(graph, context), context
        self._text: list[int] = []
        """The tokens in the session."""

    def __call__(self, text: Sequence[int]) -> Guess | None:
        """What follows `text`; None behind a text that is too long."""
        if not 0 < len(text) <= self._context:
            return None
        pairs = enumerate(zip(self._text, text[:-1], strict=False))
        other = (place for place, (before, now) in pairs if before != now)
        same = next(other, min(len(self._text), len(text) - 1))
        self._session.go_back(same)
        logits = self._session.append(text[same:])[-1].astype(np.float64)
        self._text = list(text)
        token = int(np.argmax(logits))
        return token, 1 / float(np.exp(logits - logits[token]).sum())
