"""Fewer tokens in the later layers of an encoder: those that attention looks at most stay.

Behind a layer, each token of a text has a score: the attention that it receives there, the mean
over heads and queries.  The first token and those of the highest scores stay, in order, a share of
the text's length; so programs know how many rows there are.  The host picks them between two
programs: it computes scores from the queries and keys, which are in memory, and copies rows.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.lab.prune.parts.share import Share, parse_share
from celosia.sim.support.problems import InputError
from celosia.sw.reference.encoder import EncoderWeights, Floats, encode, segments

__all__ = ["Drop", "encode_fewer", "parse_drops", "pieces", "received"]

_FORM: Final = re.compile(r"(.+)@(\d{1,3})", re.ASCII)


@dataclass(frozen=True)
class Drop:
    """How many tokens go behind which layer."""

    share: Share
    layer: int
    """So many layers have all that are left before."""

    def left(self, length: int) -> int:
        """How many of a text's tokens stay, at least the first one."""
        return max(1, length - int(length * self.share.part))


def parse_drops(option: str, text: str) -> tuple[Drop, ...]:
    """The drops that `text` says: ``50%@3``, or several with commas between.

    Raises `InputError` for another text, and for layers that do not follow each other.
    """
    found = []
    for each in text.split(","):
        match = _FORM.fullmatch(each)
        if match is None:
            raise InputError(f"{option} {each}: is no share and layer such as 50%@3")
        drop = Drop(parse_share(option, match[1], numbers=False), int(match[2]))
        if drop.layer <= (found[-1].layer if found else 0):
            raise InputError(f"{option} {text}: layer {drop.layer} is not behind the one before it")
        found.append(drop)
    return tuple(found)


def pieces(
    weights: EncoderWeights, lengths: Sequence[int], drops: Sequence[Drop]
) -> Iterator[tuple[EncoderWeights, list[int]]]:
    """The encoders that run one after the other, each with the lengths that texts have there.

    Each but the first begins with the norm at the end of the layer before it.  Raises `InputError`
    for a layer that nothing follows.
    """
    first, norm, left = 0, weights.norm, list(lengths)
    for drop in (*drops, None):
        last = weights.shape.layers if drop is None else drop.layer
        if drop is not None and last >= weights.shape.layers:
            raise InputError(
                f"{drop.share.option}@{last}: no layer follows layer {last} of "
                f"{weights.shape.layers}"
            )
        shape = weights.shape.with_layers(last - first)
        yield replace(weights, shape=shape, norm=norm, layers=weights.layers[first:last]), left
        if drop is not None:
            first, norm = last, weights.layers[last - 1].norm
            left = [drop.left(length) for length in left]


def encode_fewer(
    weights: EncoderWeights, x: Floats, lengths: Sequence[int], drops: Sequence[Drop]
) -> tuple[Floats, list[int]]:
    """What `encode` gives of the tokens that are left, and how many those are of each text."""
    behind = drops
    for part, left in pieces(weights, lengths, drops):
        seen: dict[str, Floats] = {}
        output = encode(part, x, left, seen.__setitem__)
        if not behind:
            return output, left
        drop, *behind = behind
        end = part.shape.layers - 1
        x = seen[f"{end}.sum"]
        queries, keys = seen[f"{end}.query"], seen[f"{end}.key"]
        rows = []
        for text in segments(left):
            scores = received(queries[text], keys[text], weights.shape.heads)
            scores[0] = np.inf
            best = np.argsort(-scores, kind="stable")[: drop.left(len(scores))]
            rows.append(text.start + np.sort(best))
        x = x[np.concatenate(rows)]
    raise AssertionError


def received(queries: Floats, keys: Floats, heads: int) -> NDArray[np.float64]:
    """The attention that each token of a text receives, the mean over heads and queries."""
    width = queries.shape[1] // heads
    total = np.zeros(len(keys))
    for head in range(heads):
        cols = slice(head * width, (head + 1) * width)
        scores = queries[:, cols] @ keys[:, cols].T / np.float32(np.sqrt(width))
        powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
        total += (powers / powers.sum(axis=-1, keepdims=True)).mean(axis=0)
    return total / heads
