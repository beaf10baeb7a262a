"""A model beside the narrower one that it became: what commands show of both."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from celosia.lab.prune.costs import Cost
from celosia.lab.prune.part import Criterion
from celosia.lab.prune.share import Share

__all__ = ["Model", "Narrower", "Wanted"]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """What is removed, and how."""

    criterion: Criterion
    ffn: Share | None = None
    heads: Share | None = None
    dim: int = 16
    """Hidden widths stay multiples of it."""
    repair: bool = True
    recovery: int = 0
    """Steps of training behind the repair."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Narrower:
    """A model as it was, or with less."""

    weights: int
    """Elements of all matrices."""
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

    def check_recovery(self) -> None:
        """Raise `InputError`, `LanguageError` or `EnvironmentProblem` if it cannot be trained."""
        ...

    def as_it_was(self) -> Narrower:
        """The model."""
        ...

    def pruned(self, wanted: Wanted) -> Narrower:
        """The model with less."""
        ...
