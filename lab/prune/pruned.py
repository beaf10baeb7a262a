"""A model beside the narrower one that it became: what commands show of both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from celosia.lab.prune.costs import Cost
from celosia.lab.prune.parts.part import Criterion, Gram
from celosia.lab.prune.parts.share import Share
from celosia.lab.prune.parts.tiles import without_tiles
from celosia.lab.prune.parts.tokens import Drop
from celosia.sim.support.problems import InputError
from celosia.sw.reference.encoder import Linear

__all__ = ["Model", "Narrower", "Wanted"]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is removed, and how."""

    criterion: Criterion
    ffn: Share | None = None
    heads: Share | None = None
    tiles: Share | None = None
    drops: Sequence[Drop] = ()
    """Tokens that go behind layers."""
    dim: int = 16
    """Hidden widths stay multiples of it."""
    repair: bool = True
    lasso: int = 0
    """Steps of training before tiles are removed, in which a group lasso makes the least small."""
    recovery: int = 0
    """Steps of training behind the repair."""

    @property
    def trained_by(self) -> str | None:
        """The option that asks for a training, if there is one."""
        return "--lasso" if self.lasso else "--recover" if self.recovery else None

    def without_tiles(self, linear: Linear, gram: Gram, *, bias: bool) -> Linear:
        """A matrix with tiles of zeros, and its bias, if it has one.  Raises `InputError`."""
        assert self.tiles is not None
        return without_tiles(
            linear,
            gram,
            self.tiles,
            self.criterion,
            dim=self.dim,
            repair=self.repair,
            bias=bias,
        )

    def check_smaller(self, model: str) -> None:
        """Raise `InputError` if anything but smaller matrices is asked of this `model`."""
        if self.tiles is not None:
            option = self.tiles.option
            raise InputError(f"{option}: is of language models and minilm, not of {model}")
        if self.drops:
            raise InputError(f"--drop-tokens: is of minilm, not of {model}")


@dataclass(frozen=True, eq=False, kw_only=True)
class Narrower:
    """A model as it was, or with less."""

    weights: int
    """Elements of all matrices, without tiles of zeros."""
    quality: Mapping[str, float]
    """How good it is, by the name of what is measured."""
    costs: Sequence[Cost]
    """What it takes for each input."""
    save: Callable[[Path], None] | None = None
    """Writes it."""
    notes: Sequence[str] = ()
    """What could not be removed of it, a sentence for each."""


class Model(Protocol):
    """A model that can be pruned."""

    criteria: Sequence[Criterion]
    """The criteria that it can give."""
    reason: str
    """Why it has no other."""

    def check_output(self, output: Path) -> None:
        """Raise `InputError` for a name that it is not written under."""
        ...

    def check(self, wanted: Wanted) -> None:
        """Raise `InputError` for what it does not have, before work begins."""
        ...

    def check_trained(self, option: str) -> None:
        """Raise `InputError`, `LanguageError` or `EnvironmentProblem` if it cannot be trained.

        `option` asks for it.
        """
        ...

    def as_it_was(self) -> Narrower:
        """The model."""
        ...

    def pruned(self, wanted: Wanted) -> Narrower:
        """The model with less."""
        ...
