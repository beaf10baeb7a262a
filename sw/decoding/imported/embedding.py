"""The tables of a decoder's embeddings: a row for each token, and one for each position."""

from typing import Final

import numpy as np

from celosia.sw.decoding.imported.read import TOKENS
from celosia.sw.decoding.imported.stack import Stack
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.recognize.reader import Reader
from celosia.sw.reference.encoder import Floats

__all__ = ["embedding_tables"]

_NEAR: Final = 1e-5
"""How far rows may be from each other that are the same, as a share of the largest element."""


def embedding_tables(stack: Stack, stream: str) -> tuple[Floats, Floats | None]:
    """The tables of tokens and of positions whose rows add up to the tensor `stream`.

    Positions are those of the graph's tokens; None: they have no rows.  Raises `DecoderProblem` for
    a tensor that is anything else.
    """
    reader, table = stack.reader, _table(stack, stream)
    random = np.random.default_rng(0)
    texts = random.integers(0, len(table), (3, *reader.type(TOKENS).shape))
    rows = [_evaluate(reader, stream, text) for text in texts]
    places = [found - table[text[0]] for found, text in zip(rows, texts, strict=True)]
    largest = max(np.abs(found).max() for found in rows)
    if any(np.abs(place - places[0]).max() > _NEAR * largest for place in places):
        reason = "it is not a row for each token and one for each position"
        raise stack.refused(stream, reason)
    positions = places[0].astype(np.float32)
    return table, positions if np.abs(positions).max() > _NEAR * largest else None


def _table(stack: Stack, stream: str) -> Floats:
    """The only table of which the tokens choose rows for `stream`."""
    found, reader = {}, stack.reader
    for node in reader.between(stream, [TOKENS]):
        if node.op == "gather" and TOKENS in reader.origins(node.inputs[1]):
            value = reader.value(node.inputs[0])
            if value is not None and value.ndim == 2 and value.dtype.kind == "f":
                found[node.inputs[0]] = value.astype(np.float32)
    if len(found) != 1:
        tables = ", ".join(found) or "none"
        reason = f"it is no row of one table for each token; there are {tables}"
        raise stack.refused(stream, reason)
    return next(iter(found.values()))


def _evaluate(reader: Reader, name: str, tokens: np.ndarray) -> Floats:
    """A tensor as rows of its last axis, for these tokens."""
    kind = reader.type(TOKENS)
    nodes = tuple(reader.between(name, [TOKENS]))
    graph = FloatGraph(
        name=name,
        inputs={TOKENS: kind},
        constants=reader.graph.constants,
        nodes=nodes,
        outputs={name: name},
    )
    found = interpret(graph, {TOKENS: tokens.astype(kind.dtype)})[name]
    return found.reshape(-1, found.shape[-1])
