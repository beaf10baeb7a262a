"""A number of the survey's beside ours, and how ours was obtained."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from celosia.isa.documents.record import Added, As, Key, Record, Rule
from celosia.lab.survey.parts.jobs import Job, Task
from celosia.lab.survey.parts.paper import Paper

__all__ = ["CYCLES", "KINDS", "PERCENT", "Evidence", "Item", "Scope", "Study", "Value"]

KINDS: Final = ("rtl", "rtl x layers", "model", "arithmetic")
"""How a number of ours is obtained: measured on the RTL, measured of one layer and multiplied,
computed by a model of time, or counted."""

CYCLES: Final = "cycles"
PERCENT: Final = "percent"


@dataclass(frozen=True, kw_only=True)
class Scope:
    """How much is run."""

    quick: bool = False
    """Only what takes minutes, on the simulators of `base` and `rebalanced`."""
    long: bool = False
    """Also what takes hours."""
    tenth: int | None = None
    """From 0 to 9: only the runs of this tenth, and what follows from them; None: all."""


@dataclass(frozen=True, kw_only=True)
class Value(Record):
    """One number."""

    name: str
    """What it is a number of."""
    ours: float | None
    """Celosia's; null: not obtained, `note` says why."""
    kind: Annotated[str, Rule(enum=list(KINDS))]
    """How it is obtained: measured on the RTL, measured of one layer and multiplied, computed by a
    model of time, or counted."""
    paper: float | None = None
    """The survey's; null: it has none."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """What ran, and on what."""
    netlist: str | None = None
    """The hash of the RTL that was run; null: no RTL was."""
    note: str = ""
    """What is to be known of it."""
    unit: Added[str] = ""
    """What it is a number of, for the axis of a chart; empty: a number as such."""

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"kind: {self.kind!r} is not one of {', '.join(KINDS)}")

    @Key
    def difference(self) -> float | None:
        """Ours over the survey's, less 1; null without either."""
        if self.ours is None or not self.paper:
            return None
        return self.ours / self.paper - 1


def _unless_empty(text: str) -> str | None:
    return text or None


@dataclass(frozen=True, kw_only=True)
class Item:
    """A table or a figure."""

    id: str
    """Its name for `--only`."""
    title: str
    """What it shows."""
    where: str
    """Where in the survey it stands."""
    values: tuple[Value, ...] = ()
    """Its numbers."""
    notes: tuple[str, ...] = ()
    """What is to be known of the numbers: assumptions, and why some differ."""
    missing: Annotated[str, As(_unless_empty)] = ""
    """Why there are no numbers, or not all; null if all are there."""


@dataclass(frozen=True)
class Evidence:
    """What an item is made from."""

    paper: Paper
    runs: Mapping[Task, Any]
    """The jobs that ended well."""
    scope: Scope

    def value(self, item: str, name: str, ours: float | None, kind: str, **more: Any) -> Value:
        """The value `name` of `item`, beside the survey's of that name."""
        printed = self.paper.printed(item, name)
        theirs = None if printed is None else printed.value
        return Value(name=name, ours=ours, kind=kind, paper=theirs, **more)

    def rtl(self, item: str, name: str, ours: float | None, job: Job, **more: Any) -> Value:
        """The value `name` of `item` as `job` has shown it."""
        kind = more.pop("kind", "rtl")
        return self.value(
            item, name, ours, kind, settings=job.settings(), netlist=job.netlist, **more
        )


@dataclass(frozen=True, kw_only=True)
class Study:
    """An item before it is made."""

    id: str
    jobs: Callable[[Scope], tuple[Task, ...]]
    """What has to run for it."""
    make: Callable[[Evidence], Item]
