"""Runs that were stopped: what ran until then, and what stood in the way."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from celosia.isa.registers.errors import Cause
from celosia.sim.profile.instructions import UNITS
from celosia.sim.profile.log import NEVER
from celosia.sim.profile.profile import Profile
from celosia.sw.driver.assembly import format_command

__all__ = ["UNFINISHED_HEADS", "blamed", "unfinished", "until_stopped"]

UNFINISHED_HEADS: Final = ("command", "operator", "unit", "state", "since cycle", "instruction")

_UNKNOWN: Final = (
    "mac_utilization",
    "predicted_cycles",
    "limit",
    "least_traffic",
    "problem",
)
"""What is of all of a run, and says nothing about a part of it."""

_NOBODY: Final = (Cause.NONE.name, Cause.WATCHDOG.name, Cause.CYCLE_BUDGET.name)
"""Causes that are no single command's fault."""


def until_stopped(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The run of `document` as far as it came, if it was stopped.

    Its cycles and counters, and those of its operators, are what was counted until then.
    """
    if document.get("status") != "stopped":
        return document
    parts = [_as_far(part) for part in document["operators"]]
    return {**_as_far(document), "operators": parts, "changes": []}


def _as_far(part: Mapping[str, Any]) -> Mapping[str, Any]:
    counters = part.get("until_stopped")
    if not counters:
        return part
    return {
        **part,
        **dict.fromkeys(_UNKNOWN),
        "macs": 0,
        "cycles": counters["cycles"],
        "counters": counters,
        "dram_read_bytes": counters["read_bytes"],
        "dram_write_bytes": counters["write_bytes"],
    }


def blamed(failure: Mapping[str, Any]) -> int | None:
    """The command that broke a rule, if one did."""
    return None if failure["cause"] in _NOBODY else failure["command"]


def unfinished(profile: Profile, count: int) -> list[tuple[int | str, ...]]:
    """Up to `count` operations of each queue that were not done in the end: `UNFINISHED_HEADS`."""
    found = []
    for name, queue in profile.queues.items():
        for index in np.flatnonzero(queue.done == NEVER)[:count].tolist():
            command, started = int(queue.command[index]), int(queue.started[index])
            runs = started != NEVER
            found.append((
                command,
                profile.operator_of(command),
                UNITS[name],
                "runs" if runs else "waits",
                started if runs else int(queue.entered[index]),
                format_command(profile.commands[command]),
            ))
    return found
