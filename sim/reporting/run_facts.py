"""What the parts of a run's report must have in common, which no schema can say.

A place is a path as JSON has it: ``$.operators[0].counters``.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.sim.profile.instructions import UNITS
from celosia.sim.profile.log import NEVER, Operations, Spans
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import RESOURCES
from celosia.sw.driver.program_file import MAX_MEMORY_BYTES
from celosia.sw.ir.matmul import MatMul, verify

__all__ = ["check_facts"]

_COUNTED: Final = ("cycles", "read_bytes", "write_bytes")
"""Counters that a report cannot do without, if it has any."""

Facts = Iterator[tuple[str, str]]
"""A place and what is wrong there, one after the other; none: all is right."""


def check_facts(document: Mapping[str, Any]) -> Facts:
    """What is wrong with `document`, which has the form of a run's report."""
    yield from _config(document["config"])
    yield from _part("$", document)
    for index, part in enumerate(document["operators"]):
        yield from _part(f"$.operators[{index}]", part)
    status, stopped = document["status"], document["failure"] is not None
    if stopped != (status == "stopped"):
        yield "$.status", f"{status!r}, but there is {'a' if stopped else 'no'} failure"
    if document["profile"] is not None:
        yield from _profile(document["profile"])


def _config(values: Mapping[str, Any]) -> Facts:
    for field in fields(AcceleratorConfig):
        if field.name not in values:
            yield "$.config", f"there is no {field.name!r}"
    try:
        AcceleratorConfig().with_values(dict(values))
    except ConfigError as error:
        yield "$.config", str(error)


def _part(place: str, part: Mapping[str, Any]) -> Facts:
    """The whole, or an operator."""
    for key in ("counters", "until_stopped"):
        for name in _COUNTED:
            if part[key] and name not in part[key]:
                yield f"{place}.{key}", f"there is no {name!r}"
    if bool(part["counters"]) != (part["cycles"] is not None):
        yield f"{place}.cycles", f"{part['cycles']}, but there are {len(part['counters'])} counters"
    if part["problem"] is not None:
        yield from _problem(f"{place}.problem", MatMul(**part["problem"]), part["macs"])


def _problem(place: str, problem: MatMul, macs: int) -> Facts:
    try:
        verify(problem)
    except ValueError as error:
        yield place, str(error)
    m, n, k = problem.m, problem.n, problem.k
    if max(m * k, k * n, m * n * problem.c_bytes) > MAX_MEMORY_BYTES:
        yield place, f"{m}x{n}x{k}: a matrix has over {MAX_MEMORY_BYTES:,} bytes"
    if problem.macs != macs:
        yield place, f"{m}x{n}x{k} are {problem.macs} multiply-accumulates, but macs is {macs}"


def _profile(document: Mapping[str, Any]) -> Facts:
    for name, queue in document["queues"].items():
        yield from _named(f"$.profile.queues.{name}", name, UNITS)
        yield from _columns(f"$.profile.queues.{name}", queue, Operations)
    for name, spans in document["owners"].items():
        yield from _named(f"$.profile.owners.{name}", name, RESOURCES)
        yield from _columns(f"$.profile.owners.{name}", spans, Spans)
    try:
        profile = Profile.from_document(document)
    except (ValueError, MemoryError) as error:
        yield "$.profile", str(error)
        return
    yield from _commands(profile)
    yield from _queues(profile)
    yield from _owners(profile)
    yield from _activity(profile)


def _named(place: str, name: str, known: Mapping[str, Any]) -> Facts:
    if name not in known:
        yield place, f"{name!r} is none of {', '.join(known)}"


def _columns(place: str, found: Mapping[str, Any], kind: type[Operations | Spans]) -> Facts:
    names = [field.name for field in fields(kind)]
    if sorted(found) != sorted(names):
        yield place, f"has {', '.join(found) or 'nothing'}; must have {', '.join(names)}"


def _commands(profile: Profile) -> Facts:
    many, place = len(profile.commands), "$.profile.operator"
    if len(profile.operator) != many:
        yield place, f"has {len(profile.operator)} numbers, but the program {many} commands"
    yield from _within(place, profile.operator, 0, len(profile.operators) - 1)
    for index, part in enumerate(profile.parts):
        yield from _within(f"$.profile.parts[{index}].first", [part.first], 0, many)
        yield from _within(f"$.profile.parts[{index}].start", [part.start], 0, profile.cycles)


def _queues(profile: Profile) -> Facts:
    for name, queue in profile.queues.items():
        place = f"$.profile.queues.{name}"
        columns = {field.name: getattr(queue, field.name) for field in fields(Operations)}
        yield from _lengths(place, columns)
        yield from _within(f"{place}.command", queue.command, 0, len(profile.commands) - 1)
        for field, times in columns.items():
            if field != "command":
                yield from _within(f"{place}.{field}", times, NEVER, profile.cycles)


def _owners(profile: Profile) -> Facts:
    for name, spans in profile.owners.items():
        place = f"$.profile.owners.{name}"
        yield from _lengths(place, {"start": spans.start, "owner": spans.owner})
        yield from _within(f"{place}.owner", spans.owner, NEVER, len(RESOURCES[name].owners) - 1)
        if (np.diff(spans.start) < 0).any():
            yield f"{place}.start", "the cycles must ascend"


def _activity(profile: Profile) -> Facts:
    yield from _lengths("$.profile.activity", profile.activity)
    for name, busy in profile.activity.items():
        yield from _within(f"$.profile.activity.{name}", busy, 0, profile.slot_cycles)


def _lengths(place: str, columns: Mapping[str, NDArray[Any]]) -> Facts:
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} {length}" for name, length in lengths.items())
        yield place, f"the lists have different lengths: {text}"


def _within(place: str, numbers: Sequence[int] | NDArray[Any], low: int, high: int) -> Facts:
    array = np.asarray(numbers)
    wrong = array[(array < low) | (array > high)]
    if len(wrong):
        yield place, f"{wrong[0]} is not in {low}..{high}"
