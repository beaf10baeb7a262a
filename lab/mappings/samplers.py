"""Ways to draw legal plans of a product at random; what a percentile is depends on the way."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from itertools import islice
from random import Random
from typing import Final

from celosia.lab.tune.spaces.choice_space import Choice
from celosia.lab.tune.spaces.plan_space import PlanSpace
from celosia.sim.support.problems import InputError
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.rules.verify import PlanError

__all__ = ["Sampler", "choices_of", "draws", "enumerated"]

MOST_REFUSED: Final = 100_000
"""Draws in a row that may be illegal."""


class Sampler(StrEnum):
    """A way to draw."""

    UNIFORM = "uniform"
    """Every legal combination of decisions is as likely as any other."""
    FACTORS = "factors"
    """The same among those whose blocks and pieces divide the product evenly, as mappers do that
    factorize the extents of loops."""
    EVERY = "every"
    """All of them, one after the other, without chance."""


def choices_of(space: PlanSpace, sampler: Sampler) -> Mapping[str, Sequence[Choice]]:
    """The decisions by name, and the values that `sampler` draws from."""
    choices = dict(space.choices)
    if sampler is Sampler.FACTORS:
        op, dim = space.op, space.config.dim
        extents = {
            "block_rows": op.out.rows,
            "block_columns": op.out.cols,
            "a_tiles": op.a.cols,
            "b_k_tiles": op.a.cols,
            "b_n_tiles": op.out.cols,
        }
        for name, extent in extents.items():
            tiles = -(-extent // dim)
            even = tuple(size for size in choices[name] if tiles % int(size) == 0)
            choices[name] = even
    return choices


def enumerated(
    space: PlanSpace, first: int, count: int
) -> Iterator[tuple[Mapping[str, Choice], Plan]]:
    """The legal ones of `count` combinations from number `first` on, each with its decisions."""
    for chosen in islice(space.all(first), count):
        with suppress(PlanError):
            yield chosen, space.plan(chosen)


def draws(
    space: PlanSpace, sampler: Sampler, random: Random
) -> Iterator[tuple[Mapping[str, Choice], Plan]]:
    """Legal plans without end, each with its decisions.

    Raises `InputError` if there seem to be none.
    """
    choices = choices_of(space, sampler)
    refused = 0
    while True:
        chosen = {name: random.choice(values) for name, values in choices.items()}
        try:
            plan = space.plan(chosen)
        except PlanError as error:
            refused += 1
            if refused > MOST_REFUSED:
                raise InputError(
                    f"{MOST_REFUSED:,} plans in a row are illegal; the last: {error}"
                ) from None
            continue
        refused = 0
        yield chosen, plan
