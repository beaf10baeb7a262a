"""Scores that a tanh keeps below a cap, without the tanh, where calibration shows that this does.

The accelerator has no tanh.  Far below the cap, ``cap * tanh(s / cap)`` is close to a multiple of
s, and a softmax sees differences alone: so scores are multiplied by the factor with the least
squared error of these differences, each counted by the weight of its key.  If too much is left of
the error, the attention is the host's.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import log10
from typing import Final

import numpy as np

from celosia.sw.frontend.nn.graph import FloatGraph, Node
from celosia.sw.frontend.nn.operators.operator import Array

__all__ = ["CapFit", "attribute", "cap_notes", "uncapped"]

_LEAST_DB: Final = 30.0
"""What a row's weights keep, beside their squared errors as shares of themselves, if a factor does:
8-bit queries and keys lose more."""


@dataclass
class CapFit:
    """How scores are to what a tanh makes of them."""

    cap: float
    top: float = 0.0
    """The largest magnitude of a score before the tanh."""
    _rows: int = 0
    _before: float = 0.0
    """Squared differences from a row's mean, before the tanh."""
    _behind: float = 0.0
    _both: float = 0.0

    def take(self, scores: Array, added: Array) -> None:
        """Look at rows of scores (rows x keys); what is `added` to them hides keys by -inf."""
        s, added = scores.astype(np.float64), np.broadcast_to(added, scores.shape)
        shown = (added > -np.inf).any(axis=1)
        s, added = s[shown], added[shown]
        seen = added > -np.inf
        if not len(s):
            return
        y = self.cap * np.tanh(s / self.cap)
        total = y + added
        weights = np.exp(total - total.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        s, y = (each - (weights * each).sum(axis=1, keepdims=True) for each in (s, y))
        self.top = max(self.top, float(np.abs(scores[shown][seen]).max()))
        self._rows += len(s)
        self._before += float((weights * s * s).sum())
        self._behind += float((weights * y * y).sum())
        self._both += float((weights * s * y).sum())

    @property
    def factor(self) -> float:
        """What scores are multiplied by instead."""
        return self._both / self._before if self._before > 0 else 1.0

    @property
    def error(self) -> float:
        """The mean squared error of a row's weights by that, as shares of themselves."""
        return max(self._behind - self.factor * self._both, 0.0) / max(self._rows, 1)

    @property
    def fits(self) -> bool:
        """Whether the factor does."""
        return self.error <= 10 ** (-_LEAST_DB / 10)


def cap_notes(graph: FloatGraph, fits: Mapping[str, CapFit]) -> Iterator[str]:
    """What becomes of the attentions of `graph` that have a cap."""
    nodes = graph.producers()
    done = [fit for fit in fits.values() if fit.fits]
    if done:
        top, error = max(fit.top for fit in done), max(fit.error for fit in done)
        kept = f", which keeps {-10 * log10(error):.0f} dB of their weights" if error else ""
        caps = ", ".join(sorted({f"{fit.cap:g}" for fit in done}))
        yield (
            f"scores below a cap of {caps} are multiplied by a number instead, as they reach "
            f"{top:.3g} in the calibration{kept}"
        )
    for name, fit in fits.items():
        if not fit.fits:
            yield (
                f"{nodes[name].origin or name}: its scores reach {fit.top:.3g} in the calibration: "
                f"a number instead of their cap of {fit.cap:g} would keep "
                f"{-10 * log10(fit.error):.0f} dB of their weights, less than {_LEAST_DB:.0f}, so "
                "the host computes it"
            )


def attribute(node: Node, name: str) -> float:
    """A number that is an attribute of `node`."""
    value = node.attributes[name]
    assert isinstance(value, float)
    return value


def uncapped(graph: FloatGraph, factors: Mapping[str, float] | None = None) -> FloatGraph:
    """`graph` with scores times factors, by the names of attentions, instead of behind a tanh.

    An attention that `factors` do not name keeps its cap; without any, all factors are 1.
    """
    chosen = {
        node.name: 1.0 if factors is None else factors[node.name]
        for node in graph.nodes
        if "cap" in node.attributes and (factors is None or node.name in factors)
    }
    if not chosen:
        return graph
    nodes = {node.name: node for node in graph.nodes}
    for name, factor in chosen.items():
        kept = {key: each for key, each in nodes[name].attributes.items() if key != "cap"}
        kept["scale"] = attribute(nodes[name], "scale") * factor
        nodes[name] = replace(nodes[name], attributes=kept)
    return replace(graph, nodes=tuple(nodes.values()))
