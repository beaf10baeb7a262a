"""A run as a trace for Perfetto: https://ui.perfetto.dev shows it.

A cycle is a nanosecond.  Tracks: each unit with its operations, each queue with the operation at
its head while its unit could begin, and how many wait, the owners of cycles, banks and channels of
the bus.  Arrows lead from a load to the first operation that uses what it has loaded.  Names of
fields are those of Perfetto's ``trace_packet.proto`` and its neighbors; a test reads traces with
Perfetto's own library.
"""

import gzip
from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path
from typing import Final

import numpy as np

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import identify
from celosia.sim.profile.flows import arrows
from celosia.sim.profile.instructions import UNITS, Unit, unit_operations
from celosia.sim.profile.log import NEVER
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import RESOURCES
from celosia.sim.reporting.wire import fixed64, message, text, varint

__all__ = ["GZIP", "trace", "trace_file"]

GZIP: Final = ".gz"

_PACKET: Final = 1
_TIMESTAMP, _SEQUENCE, _EVENT, _INTERNED, _FLAGS, _DESCRIPTOR = 8, 10, 11, 12, 13, 60
_UUID, _NAME, _PARENT, _COUNTER = 1, 2, 5, 8
_ANNOTATION, _TYPE, _NAME_IID, _TRACK, _VALUE, _FLOW, _LAST_FLOW = 4, 9, 10, 11, 30, 47, 48
_BEGIN, _END, _COUNT = 1, 2, 4
_EVENT_NAMES, _ANNOTATION_NAMES = 2, 3
_CLEARED, _NEEDS_STATE = 1, 2
_SAMPLE: Final = 64
"""Cycles for which there is one number of operations that wait: for the sake of size."""
_COMMAND: Final = 1
"""The number of the name of the only annotation."""

_ONE: Final = varint(_SEQUENCE, 1)


def trace_file(path: Path, profile: Profile, config: AcceleratorConfig) -> bytes:
    """The bytes of the file `path`: compressed if its name says so."""
    data = trace(profile, config)
    return gzip.compress(data, 6, mtime=0) if path.suffix == GZIP else data


def trace(profile: Profile, config: AcceleratorConfig) -> bytes:
    """The run as a Perfetto trace."""
    writer = _Writer(profile)
    units = unit_operations(profile)
    flows = _flows(profile, config, units)
    root = writer.track("celosia")
    for queue, unit in units.items():
        track = writer.track(UNITS[queue], root)
        ids = flows.get(queue, {})
        writer.slices(track, unit.begin, unit.end, writer.named(unit.command), unit.command, ids)
    for queue, unit in units.items():
        _queue_tracks(writer, root, profile, queue, unit)
    for resource in profile.resources:
        _owner_track(writer, root, profile, resource)
    for name, busy in profile.activity.items():
        track = writer.track(f"{name}, % busy", root, counter=True)
        share = 100 * busy // profile.slot_cycles
        writer.counts(track, np.arange(len(busy)) * profile.slot_cycles, share)
    return writer.finish()


def _flows(
    profile: Profile, config: AcceleratorConfig, units: Mapping[str, Unit]
) -> dict[str, dict[int, bytes]]:
    """The fields that begin or end arrows at an operation, by its queue and command."""
    found: dict[str, dict[int, bytes]] = {queue: {} for queue in units}
    for arrow in arrows(profile, config, units):
        found["load"][arrow.load] = fixed64(_FLOW, arrow.load + 1)
        ends = found[arrow.queue]
        ends[arrow.user] = ends.get(arrow.user, b"") + fixed64(_LAST_FLOW, arrow.load + 1)
    return found


def _queue_tracks(writer: "_Writer", root: int, profile: Profile, name: str, unit: Unit) -> None:
    """The head of a queue while it waits and its unit could begin, and how many wait."""
    queue = profile.queues[name]
    entered, command = queue.entered, queue.command
    # What was never taken waits until the end.
    started = np.where(queue.started == NEVER, profile.cycles, queue.started)
    free = np.full(len(command), NEVER)
    free[1 : len(unit.end) + 1] = unit.end[: len(command) - 1] - 1
    head = np.maximum.reduce([entered, np.append(NEVER, started[:-1]), free])
    track = writer.track(f"{name} queue: head", root)
    waits = started > head
    chosen = command[waits]
    writer.slices(track, head[waits] + 1, started[waits] + 1, writer.named(chosen), chosen, {})
    track = writer.track(f"{name} queue: operations", root, counter=True)
    writer.counts(track, *_levels(entered, started))


def _levels(entered: np.ndarray, started: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How many operations wait, from which cycle on: the most in each `_SAMPLE`, and the last.

    What waits already as a sample begins counts in it.
    """
    moments = np.concatenate([entered, started])
    steps = np.concatenate([np.ones_like(entered), -np.ones_like(started)])
    order = np.argsort(moments, kind="stable")
    levels, times = np.cumsum(steps[order]), moments[order]
    last = np.diff(times, append=NEVER) != 0
    levels, times = levels[last], times[last] + 1
    if not len(times):
        return times, levels
    changed = np.unique(times // _SAMPLE)
    edges = np.union1d(changed, changed + 1) * _SAMPLE
    held = np.append(0, levels)[np.searchsorted(times, edges, side="right")]
    moments, levels = np.append(edges, times), np.append(held, levels)
    order = np.argsort(moments, kind="stable")
    slots, first = np.unique(moments[order] // _SAMPLE, return_index=True)
    most = np.maximum.reduceat(levels[order], first)
    at = slots * _SAMPLE
    at[0], at[-1] = times[0], times[-1] + 1
    return at, most


def _owner_track(writer: "_Writer", root: int, profile: Profile, resource: str) -> None:
    table, spans = RESOURCES[resource], profile.owners[resource]
    ends = np.append(spans.start[1:], profile.cycles)
    shown = (spans.owner >= 0) & (ends > spans.start)
    names = writer.names([owner.name for owner in table.owners])
    track = writer.track(f"{table.unit}: whose cycle", root)
    iids = [names[owner] for owner in spans.owner[shown].tolist()]
    writer.slices(track, spans.start[shown], ends[shown], iids, None, {})


class _Writer:
    """Collects packets."""

    def __init__(self, profile: Profile):
        self._profile = profile
        self._packets: list[bytes] = []
        self._uuids = count(1)
        self._iids: dict[str, int] = {}
        self._mnemonics = [_mnemonic(command) for command in profile.commands]

    def track(self, name: str, parent: int = 0, *, counter: bool = False) -> int:
        """A new track; returns its number."""
        uuid = next(self._uuids)
        parts = [varint(_UUID, uuid), text(_NAME, name)]
        parts += [varint(_PARENT, parent)] * bool(parent)
        parts += [message(_COUNTER)] * counter
        self._packets.append(message(_PACKET, _ONE, message(_DESCRIPTOR, *parts)))
        return uuid

    def names(self, texts: list[str]) -> list[int]:
        """The number of each name, new for a name that has none yet."""
        return [self._iids.setdefault(name, len(self._iids) + 1) for name in texts]

    def named(self, commands: np.ndarray) -> list[int]:
        """Numbers of the names of operations: instruction and operator."""
        profile, mnemonics = self._profile, self._mnemonics
        return self.names([
            f"{mnemonics[command]} {profile.operator_of(command)}".rstrip()
            for command in commands.tolist()
        ])

    def slices(
        self,
        track: int,
        begin: np.ndarray,
        end: np.ndarray,
        names: list[int],
        commands: np.ndarray | None,
        flows: Mapping[int, bytes],
    ) -> None:
        """One slice after the other, in order of time."""
        on_track, state = varint(_TRACK, track), varint(_FLAGS, _NEEDS_STATE)
        opens, closes = varint(_TYPE, _BEGIN) + on_track, varint(_TYPE, _END) + on_track
        ended = message(_EVENT, closes) + _ONE
        keys: Iterator[int] = iter(commands.tolist()) if commands is not None else iter(())
        for first, last, name in zip(begin.tolist(), end.tolist(), names, strict=True):
            command = next(keys, None)
            more = b""
            if command is not None:
                more = _annotation(command) + flows.get(command, b"")
            event = message(_EVENT, opens, varint(_NAME_IID, name), more)
            self._packets.append(message(_PACKET, varint(_TIMESTAMP, first), event, _ONE, state))
            self._packets.append(message(_PACKET, varint(_TIMESTAMP, last), ended))

    def counts(self, track: int, moments: np.ndarray, values: np.ndarray) -> None:
        """The values of a counter where they change."""
        head = varint(_TYPE, _COUNT) + varint(_TRACK, track)
        before = None
        for moment, value in zip(moments.tolist(), values.tolist(), strict=True):
            if value != before:
                event = message(_EVENT, head, varint(_VALUE, value))
                self._packets.append(message(_PACKET, varint(_TIMESTAMP, moment), event, _ONE))
            before = value

    def finish(self) -> bytes:
        """The trace: names first, because events refer to them."""
        entries = [
            message(_EVENT_NAMES, varint(1, iid), text(2, name)) for name, iid in self._iids.items()
        ]
        entries.append(message(_ANNOTATION_NAMES, varint(1, _COMMAND), text(2, "command")))
        first = message(_PACKET, _ONE, varint(_FLAGS, _CLEARED), message(_INTERNED, *entries))
        return b"".join([first, *self._packets])


def _annotation(command: int) -> bytes:
    return message(_ANNOTATION, varint(1, _COMMAND), varint(3, command))


def _mnemonic(command) -> str:
    instruction = identify(command)
    return instruction.name if instruction else "unknown"
