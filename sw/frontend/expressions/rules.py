"""The level of tensor expressions: how rules read, prove and change a program.

A rule finds tensors that other statements compute; numbers prove that these do.
"""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.sw.frontend.expressions.evaluate import elements, points
from celosia.sw.frontend.expressions.nodes import Tensor
from celosia.sw.frontend.expressions.program import Program, Statement, computed, reads
from celosia.sw.rewriting.engine import Level
from celosia.sw.rewriting.walk import Walk

__all__ = ["EXPRESSIONS", "Match", "Reader"]

_ROUNDS: Final = 2
_MOST_PRODUCTS: Final = 1 << 22
"""Products for which elements are evaluated in a round; of larger tensors some are drawn."""


@dataclass(frozen=True, kw_only=True)
class Match:
    """A tensor, and what is to compute it."""

    what: str
    """What was found, for messages."""
    root: str
    """The tensor's name."""
    statements: tuple[Statement, ...]
    """What takes its place; the last one computes it."""


class Reader:
    """What rules ask of a program."""

    def __init__(self, program: Program):
        self.program = program
        tensors = [each for each in program.statements if isinstance(each, Tensor)]
        self._tensors = {each.name: each for each in tensors}
        self.nodes: Walk[Tensor] = Walk(tensors, lambda tensor: tensor.name)
        """The tensors that nothing computes yet."""

    def tensor(self, name: str) -> Tensor:
        """A tensor that nothing computes yet."""
        return self._tensors[name]

    def is_result(self, tensor: Tensor) -> bool:
        """Whether it is the result, which no other statement reads."""
        return tensor.name == self.program.result.name

    def is_computed(self, tensor: Tensor) -> bool:
        """Whether a statement computes a tensor, so that it never is on the host."""
        return tensor.body is not None

    def split(self, tensor: Tensor) -> int:
        """How many axes of a tensor are rows of what is stored: all but the last, if none says."""
        return self.program.splits.get(tensor.name, len(tensor.shape) - 1)


def _difference(reader: Reader, match: Match) -> str | None:
    """Where what is to take a tensor's place computes something else."""
    tensor = reader.tensor(match.root)
    for seed in range(_ROUNDS):
        random = np.random.default_rng(seed)
        values = {each.tensor.name: each.tensor for each in reads(tensor)}
        drawn = {name: _drawn(each, random, ends=bool(seed)) for name, each in values.items()}
        which = points(tensor, _MOST_PRODUCTS, random)
        expected = elements(tensor, drawn, which)
        found = computed(match.statements, drawn).reshape(-1)[which]
        if not np.array_equal(expected, found):
            wrong = int(np.count_nonzero(expected != found))
            return f"numbers show that it is none: {wrong:,} of {len(which):,} elements differ"
    return None


def _drawn(tensor: Tensor, random: np.random.Generator, *, ends: bool) -> NDArray[Any]:
    """Elements over all of a tensor's range, or only at its ends; those that are known as such."""
    if tensor.value is not None:
        return tensor.value
    if ends:
        return random.choice(np.array([tensor.low, tensor.high], tensor.dtype), tensor.shape)
    return random.integers(tensor.low, tensor.high, tensor.shape, tensor.dtype, endpoint=True)


def _likeness(_reader: Reader, match: Match) -> Hashable:
    """The place of a match: no two tensors have one name."""
    return match.what, match.root


def _rebuilt(program: Program, matches: Mapping[str, Match]) -> Program:
    return program.with_statements({root: match.statements for root, match in matches.items()})


EXPRESSIONS: Final = Level(
    name="expressions",
    read=Reader,
    likeness=_likeness,
    difference=_difference,
    rebuild=_rebuilt,
)
"""Tensor expressions: what takes the place of a tensor is evaluated on drawn operands."""
