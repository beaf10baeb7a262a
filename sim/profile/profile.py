"""Everything that the log of a run has shown, of one program or of several one after the other.

A profile is part of the run's JSON document (`docs/reports.md`), and made from it again.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from celosia.isa.documents.record import As, Count, Named, Record, Rule
from celosia.isa.encoding import Command, pack_ring, unpack_ring
from celosia.sim.profile.executed import Executed
from celosia.sim.profile.log import NEVER, Operations, Spans
from celosia.sim.profile.packing import pack, pack_bytes, unpack, unpack_bytes
from celosia.sim.profile.resources import RESOURCES

__all__ = ["Part", "Profile", "join"]

_TIMES: Final = tuple(field.name for field in fields(Operations) if field.name != "command")

Packed: TypeAlias = Annotated[str, Rule(contentEncoding="base64")]


@dataclass(frozen=True)
class Part:
    """One of the programs that ran one after the other."""

    name: str
    """What it is a program of."""
    start: Count
    """The first cycle of the program."""
    first: Count
    """The index of its first command."""
    schedule: str
    """The schedule by which operations follow each other, in words."""


def _program(commands: Sequence[Command]) -> Packed:
    return pack_bytes(pack_ring(commands))


def _array(numbers: NDArray[np.int64]) -> Packed:
    return pack(numbers)


def _arrays(arrays: Mapping[str, NDArray[np.int64]]) -> Mapping[str, Packed]:
    return {name: pack(numbers) for name, numbers in arrays.items()}


def _tables(tables: Mapping[str, Operations | Spans]) -> Mapping[str, Mapping[str, Packed]]:
    return {name: _arrays(vars(table)) for name, table in tables.items()}


@dataclass(frozen=True, eq=False, kw_only=True)
class Profile(Record):
    """A run's log, with its program.

    In a document, arrays are 32-bit differences, little-endian, compressed by zlib, in base64
    (`celosia.sim.profile.packing.unpack`).
    """

    cycles: Annotated[int, Rule(minimum=1)]
    """Cycles of the run."""
    commands: Annotated[Sequence[Command], Named("program"), As(_program)]
    """All commands, loops expanded, as they would stand in a ring (zlib, base64)."""
    operators: tuple[str, ...]
    """Names; an empty one for commands that belong to none."""
    operator: Annotated[NDArray[np.int64], As(_array)]
    """The number of the operator, in `operators`, that each command belongs to."""
    queues: Annotated[Mapping[str, Operations], As(_tables)]
    """For each queue, its operations in order: `command`, and the cycles `entered`, `started`,
    `began`, `read`, `done`; -1: never."""
    owners: Annotated[Mapping[str, Spans], As(_tables)]
    """For each unit, from which cycle on (`start`) whose cycles they are: the index of `owner` in
    its table; -1: nobody's."""
    activity: Annotated[Mapping[str, NDArray[np.int64]], As(_arrays)]
    """Busy cycles of each bank, and of the bus, in each slot of `slot_cycles`."""
    slot_cycles: Annotated[int, Rule(minimum=1)]
    """Cycles of a slot."""
    lost: Count
    """Operations and owners that the log had no place for."""
    parts: Annotated[tuple[Part, ...], Rule(minItems=1)]
    """The programs that ran one after the other."""

    def operator_of(self, command: int) -> str:
        """The name of the operator that a command belongs to."""
        return self.operators[self.operator[command]]

    @cached_property
    def resources(self) -> tuple[str, ...]:
        """Names of the `RESOURCES` whose owners are known."""
        return tuple(name for name in RESOURCES if name in self.owners)

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
