"""Reads what `celosia run --json` wrote."""

import json
from collections.abc import Mapping
from typing import Any

from celosia.sim.profile.profile import Profile
from celosia.sim.profile.stopped import until_stopped
from celosia.sim.run.report import RUN_SCHEMA
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError

__all__ = ["read_clocked_run", "read_profile", "read_run", "read_timed_run"]

_NEEDED = ("workload", "operators", "counters", "config", "memory", "cycles", "command_line")


def read_run(path: str) -> Mapping[str, Any]:
    """The report of a run; - is standard input.  Raises `InputError` for anything else."""
    try:
        document = json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if schema != RUN_SCHEMA:
        raise InputError(
            f"{path}: not a run's report: its schema is {schema!r}, not {RUN_SCHEMA!r}"
        )
    if missing := [key for key in _NEEDED if key not in document]:
        raise InputError(f"{path}: incomplete: there is no {missing[0]!r}")
    return document


def read_clocked_run(path: str) -> Mapping[str, Any]:
    """As `read_run`, of a run that has cycles, and was not stopped."""
    return _clocked(path, read_run(path))


def read_timed_run(path: str) -> Mapping[str, Any]:
    """As `read_run`, of a run that has cycles; of one that was stopped, those until then."""
    return _clocked(path, until_stopped(read_run(path)))


def _clocked(path: str, document: Mapping[str, Any]) -> Mapping[str, Any]:
    if not document["cycles"]:
        raise InputError(
            f"{path}: the run has no cycles: it was {document['status']} on {document['simulator']}"
        )
    return document


def read_profile(path: str, document: Mapping[str, Any]) -> Profile:
    """The profile of a run's report that came from `path`."""
    if document.get("profile") is None:
        raise InputError(f"{path}: no instruction was followed: run it with --profile")
    try:
        return Profile.from_document(document["profile"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: profile: {error}") from None
