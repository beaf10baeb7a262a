"""Reads what `celosia run --json` wrote, and reports of other commands."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Final

from celosia.isa.foreign_file import MIB
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.stopped import until_stopped
from celosia.sim.support.output import read_text
from celosia.sim.support.problems import InputError

__all__ = ["read_clocked_run", "read_profile", "read_report", "read_run", "read_timed_run"]

_MOST_BYTES: Final = 256 * MIB
"""The largest report that is read; that of a BERT-base encoder with its profile has some 10 MiB."""


def read_run(path: str) -> Mapping[str, Any]:
    """The report of a run; - is standard input.

    It has the form of ``docs/report.schema.json``, and its parts agree with each other: who reads
    it need not look again.  Raises `InputError`, with the place, for anything else.
    """
    return read_report(path, "run")


def read_report(path: str, kind: str) -> Mapping[str, Any]:
    """The report of a kind of ``docs/report.schema.json``, such as ``survey``; - is standard input.

    Raises `InputError`, with the place, for what does not have its form.
    """
    # Loaded when it is asked for: the library behind it takes a quarter of a second.
    rules = import_module("celosia.sim.reporting.run_schema")
    text = read_text(path, _MOST_BYTES)
    try:
        document = rules.parse_json(text)
    except ValueError as error:
        raise InputError(f"{path}: not JSON: {error}") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    wanted = rules.report_schema()["$defs"][kind]["properties"]["schema"]["const"]
    if schema != wanted:
        raise InputError(f"{path}: not a {kind}'s report: its schema is {schema!r}, not {wanted!r}")
    try:
        rules.check_report(document, kind)
    except rules.ReportProblem as error:
        raise InputError(f"{path}: {error}") from None
    return document


def read_clocked_run(path: str) -> Mapping[str, Any]:
    """The report that `read_run` reads, of a run that has cycles and was not stopped."""
    return _clocked(path, read_run(path))


def read_timed_run(path: str) -> Mapping[str, Any]:
    """The report of a run that has cycles; of one that was stopped, those until then."""
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
    return Profile.from_document(document["profile"])
