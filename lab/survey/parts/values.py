"""A number of the survey's beside ours, and how ours was obtained."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

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
class Value:
    """One number."""

    name: str
    ours: float | None
    """None: not obtained; `note` says why."""
    kind: str
    """One of `KINDS`."""
    paper: float | None = None
    """None: the survey has none."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    netlist: str | None = None
    """The hash of the RTL that was run; None: no RTL was."""
    note: str = ""
    unit: str = ""
    """What it is a number of, for the axis of a chart; empty: a number as such."""

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"kind: {self.kind!r} is not one of {', '.join(KINDS)}")

    @property
    def difference(self) -> float | None:
        """Ours over the survey's, less 1; None without either."""
        if self.ours is None or not self.paper:
            return None
        return self.ours / self.paper - 1

    def document(self) -> dict[str, Any]:
        """The value as an object for JSON."""
        return {
            "name": self.name,
            "paper": self.paper,
            "ours": self.ours,
            "difference": self.difference,
            "kind": self.kind,
            "settings": dict(self.settings),
            "netlist": self.netlist,
            "note": self.note,
            "unit": self.unit,
        }


@dataclass(frozen=True, kw_only=True)
class Item:
    """A table or a figure."""

    id: str
    title: str
    where: str
    """Where in the survey it stands."""
    values: tuple[Value, ...] = ()
    notes: tuple[str, ...] = ()
    """What is to be known of the numbers: assumptions, and why some differ."""
    missing: str = ""
    """Why there are no numbers, or not all; nothing if all are there."""

    def document(self) -> dict[str, Any]:
        """The item as an object for JSON."""
        return {
            "id": self.id,
            "title": self.title,
            "where": self.where,
            "values": [value.document() for value in self.values],
            "notes": list(self.notes),
            "missing": self.missing or None,
        }


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
