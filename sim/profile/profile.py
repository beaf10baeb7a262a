"""Everything that the log of a run has shown, of one program or of several one after the other.

A profile is part of the run's JSON document (`docs/reports.md`), and made from it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.encoding import Command, pack_ring, unpack_ring
from celosia.sim.profile.executed import Executed
from celosia.sim.profile.log import NEVER, Operations, Spans
from celosia.sim.profile.packing import pack, pack_bytes, unpack, unpack_bytes
from celosia.sim.profile.resources import RESOURCES

__all__ = ["Part", "Profile", "join"]

_TIMES: Final = tuple(field.name for field in fields(Operations) if field.name != "command")


@dataclass(frozen=True)
class Part:
    """One of the programs that ran one after the other."""

    name: str
    start: int
    """The first cycle of the program."""
    first: int
    """The index of its first command."""
    schedule: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Profile:
    """A run's log, with its program."""

    cycles: int
    commands: Sequence[Command]
    operators: tuple[str, ...]
    """Names; an empty one for commands that belong to none."""
    operator: NDArray[np.int64]
    """The number of the operator, in `operators`, that each command belongs to."""
    queues: Mapping[str, Operations]
    owners: Mapping[str, Spans]
    activity: Mapping[str, NDArray[np.int64]]
    """Busy cycles in each slot of `slot_cycles`."""
    slot_cycles: int
    lost: int
    """Operations and owners that the log had no place for."""
    parts: tuple[Part, ...]

    def operator_of(self, command: int) -> str:
        """The name of the operator that a command belongs to."""
        return self.operators[self.operator[command]]

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Names of the `RESOURCES` whose owners are known."""
        return tuple(name for name in RESOURCES if name in self.owners)

    def document(self) -> dict[str, Any]:
        """The profile as an object for JSON."""
        return {
            "cycles": self.cycles,
            "program": pack_bytes(pack_ring(self.commands)),
            "operators": list(self.operators),
            "operator": pack(self.operator),
            "queues": {
                name: {field: pack(getattr(queue, field)) for field in ("command", *_TIMES)}
                for name, queue in self.queues.items()
            },
            "owners": {
                name: {"start": pack(spans.start), "owner": pack(spans.owner)}
                for name, spans in self.owners.items()
            },
            "activity": {name: pack(counts) for name, counts in self.activity.items()},
            "slot_cycles": self.slot_cycles,
            "lost": self.lost,
            "parts": [vars(part) for part in self.parts],
        }

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Profile":
        """What `document` made; `KeyError`, `TypeError` or `ValueError` for anything else."""
        return cls(
            cycles=document["cycles"],
            commands=unpack_ring(unpack_bytes(document["program"])),
            operators=tuple(document["operators"]),
            operator=unpack(document["operator"]),
            queues={
                name: Operations(**{field: unpack(text) for field, text in queue.items()})
                for name, queue in document["queues"].items()
            },
            owners={
                name: Spans(unpack(spans["start"]), unpack(spans["owner"]))
                for name, spans in document["owners"].items()
            },
            activity={name: unpack(text) for name, text in document["activity"].items()},
            slot_cycles=document["slot_cycles"],
            lost=document["lost"],
            parts=tuple(Part(**part) for part in document["parts"]),
        )


def join(runs: Sequence[tuple[str, Executed]]) -> Profile:
    """The profile of programs with names that ran one after the other."""
    names = list(dict.fromkeys(name for _, run in runs for name in run.operators))
    number = {name: index for index, name in enumerate(names)}
    starts = np.cumsum([0, *(run.log.cycles for _, run in runs)])
    firsts = np.cumsum([0, *(len(run.commands) for _, run in runs)])
    slot = max(run.log.slot_cycles for _, run in runs)
    return Profile(
        cycles=int(starts[-1]),
        commands=[command for _, run in runs for command in run.commands],
        operators=tuple(names),
        operator=np.array([number[name] for _, run in runs for name in run.operators], np.int64),
        queues=_joined_queues(runs, starts, firsts),
        owners=_joined_owners(runs, starts),
        activity=_joined_activity(runs, starts, slot),
        slot_cycles=slot,
        lost=sum(run.log.lost for _, run in runs),
        parts=tuple(
            Part(name, int(start), int(first), run.schedule)
            for (name, run), start, first in zip(runs, starts, firsts, strict=False)
        ),
    )


def _joined_queues(
    runs: Sequence[tuple[str, Executed]], starts: NDArray, firsts: NDArray
) -> dict[str, Operations]:
    names = dict.fromkeys(name for _, run in runs for name in run.log.queues)
    joined = {}
    for name in names:
        columns: dict[str, list[NDArray]] = {field: [] for field in ("command", *_TIMES)}
        for (_, run), start, first in zip(runs, starts, firsts, strict=False):
            if (queue := run.log.queues.get(name)) is None:
                continue
            columns["command"].append(queue.command + first)
            for field in _TIMES:
                times = getattr(queue, field)
                columns[field].append(np.where(times == NEVER, NEVER, times + start))
        joined[name] = Operations(**{key: np.concatenate(each) for key, each in columns.items()})
    return joined


def _joined_owners(runs: Sequence[tuple[str, Executed]], starts: NDArray) -> dict[str, Spans]:
    joined = {}
    for name in runs[0][1].log.owners:
        begins, owners = [], []
        for (_, run), start in zip(runs, starts, strict=False):
            spans = run.log.owners[name]
            kept = (spans.start < run.log.cycles) & (spans.start >= 0)
            begins.append(spans.start[kept] + start)
            owners.append(spans.owner[kept])
        joined[name] = Spans(np.concatenate(begins), np.concatenate(owners))
    return joined


def _joined_activity(
    runs: Sequence[tuple[str, Executed]], starts: NDArray, slot: int
) -> dict[str, NDArray[np.int64]]:
    slots = -(-int(starts[-1]) // slot) if len(starts) else 0
    joined = {name: np.zeros(max(1, slots), np.int64) for name in runs[0][1].log.activity}
    for (_, run), start in zip(runs, starts, strict=False):
        for name, counts in run.log.activity.items():
            middles = start + (np.arange(len(counts)) + 0.5) * run.log.slot_cycles
            places = np.minimum((middles // slot).astype(np.int64), len(joined[name]) - 1)
            np.add.at(joined[name], places, counts)
    return joined
