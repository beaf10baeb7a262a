"""What would help against a loss, with a figure."""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from celosia.isa.queues import QUEUES
from celosia.sim.operator_groups import group_name
from celosia.sim.reporting.instructions import owners_between, unit_operations
from celosia.sim.reporting.losses import Loss
from celosia.sim.reporting.profile import Profile
from celosia.sim.reporting.resources import ARRAY, RESOURCES, owner_named
from celosia.sw.driver.assembly import format_command

__all__ = ["ADVICE", "remedy"]

_KIB: Final = 1024
_QUEUE: Final = "wait_queue_"
"""Begins the owner of a wait for a place in a queue, whose name follows."""


def remedy(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """What would help against `loss` of the operator `part` of a run."""
    owner = owner_named(loss.owner)
    advise = ADVICE.get(loss.owner) or ADVICE.get(owner.group if owner else "", _other)
    return advise(loss, part, document) + _where(loss, document)


def _rate(document: Mapping[str, Any]) -> int:
    return min(document["memory"]["bytes_per_cycle"], document["config"]["bus_bits"] // 8)


def _late(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    rate = _rate(document)
    return (
        f"Loads come too late, but the bus has time for them: {loss.cycles * rate / _KIB:,.1f} KiB "
        f"loaded earlier save at most {loss.cycles:,} cycles."
    )


def _bandwidth(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    rate = _rate(document)
    return (
        f"The bus gave all that it has, {rate} bytes per cycle: {2 * rate} save at most "
        f"{loss.cycles // 2:,} cycles, and {loss.cycles * rate / _KIB:,.1f} KiB loaded earlier, or "
        f"not at all, save up to {loss.cycles:,}."
    )


def _requests(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    many, latency = document["config"]["read_requests"], document["memory"]["latency"]
    return (
        f"At a latency of {latency}, {many} requests in flight are too few: twice as many "
        f"(read_requests={2 * many}), or longer rows, save up to {loss.cycles:,} cycles."
    )


def _weights(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    dim = document["config"]["dim"]
    return (
        f"Products of fewer than {dim} rows are over before the next weights are in the array: at "
        f"least {dim} rows for each tile of weights save up to {loss.cycles:,} cycles."
    )


def _store(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    least = part["dram_write_bytes"] / _rate(document)
    return (
        f"Results leave too slowly: {part['dram_write_bytes']:,} bytes need {least:,.0f} cycles of "
        f"the bus; a free place in the accumulator at that time saves up to {loss.cycles:,} cycles."
    )


def _command(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    commands = part["commands"]
    each = (part["cycles"] or 0) / max(1, commands)
    return (
        f"Its {commands:,} commands come every {each:.1f} cycles, and the queue of products ran "
        "empty: fewer commands, or products earlier in the program, save up to "
        f"{loss.cycles:,} cycles."
    )


def _queue(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    queue = f"{loss.owner.removeprefix(_QUEUE)}_queue"
    depth = document["config"][queue]
    return (
        f"Commands behind a full queue of {depth} wait, and so do products among them: a deeper "
        f"one ({queue}={2 * depth}), or a program that fills it later, save up to "
        f"{loss.cycles:,} cycles."
    )


def _drain(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    latency = document["memory"]["latency"]
    return (
        f"All products are over. {latency} cycles are the last response of memory; what is more "
        f"({max(0, loss.cycles - latency):,}) smaller last blocks can save."
    )


def _at_most(text: str) -> Callable[[Loss, Mapping[str, Any], Mapping[str, Any]], str]:
    """Advice that says no more than how many cycles it saves."""
    return lambda loss, part, document: text.format(f"{loss.cycles:,}")


_other = _at_most("Without it the run is at most {} cycles shorter.")
_AFTER: Final = "drain"
"""The group of what is behind the last product by definition."""
ADVICE: Final = {
    "wait_load_bandwidth": _bandwidth,
    "wait_load_requests": _requests,
    **{f"{_QUEUE}{name}": _queue for name in QUEUES},
    "load": _late,
    "token": _at_most(
        "What is loaded has to be stored first: work on other tensors in between, or results that "
        "stay on the chip, save up to {} cycles."
    ),
    "padding": _at_most(
        "Rows of zeros fill up what A lacks: C as short as A saves up to {} cycles."
    ),
    "weights": _weights,
    "bank": _at_most(
        "Two units want the same bank: operands in banks of their own save up to {} cycles."
    ),
    "transform": _at_most(
        "The array has nothing to multiply while rows are transformed: products of another part "
        "(a head, a text, a block of rows) in between save up to {} cycles."
    ),
    "accumulator": _store,
    "hazard": _at_most(
        "Operations follow too closely on those that they need: others in between, or rows of "
        "their own, save up to {} cycles."
    ),
    "command": _command,
    "drain": _drain,
}
"""By the owner, or by its group."""


def _where(loss: Loss, document: Mapping[str, Any]) -> str:
    """The product that lost the most of it, of a run with a log."""
    if document.get("profile") is None:
        return ""
    profile = _profile(document)
    unit = unit_operations(profile).get("execute")
    owner = next(owner for owner in RESOURCES[ARRAY].owners if owner.name == loss.owner)
    owners = [each.name for each in RESOURCES[ARRAY].owners]
    if unit is None or ARRAY not in profile.owners or not len(unit.command):
        return ""
    counts = owners_between(profile.owners[ARRAY], len(owners), unit.begin - unit.lost, unit.end)[
        :, owners.index(loss.owner)
    ]
    inside = _inside(loss, document, profile, unit.command)
    counts = np.where(inside, counts, 0)
    worst = int(np.argmax(counts))
    if not counts[worst]:
        return "" if owner.group == _AFTER else " It is behind the last product."
    index = int(unit.command[worst])
    return (
        f" The most at one place: {counts[worst]:,} cycles before command {index} "
        f"({format_command(profile.commands[index])})."
    )


_kept: list[tuple[Mapping[str, Any], Profile]] = []
"""The profile made last, with its document: as long as that is kept, no other is at its place."""


def _profile(document: Mapping[str, Any]) -> Profile:
    if not _kept or _kept[0][0] is not document:
        _kept[:] = [(document, Profile.from_document(document["profile"]))]
    return _kept[0][1]


def _inside(
    loss: Loss, document: Mapping[str, Any], profile: Profile, commands: np.ndarray
) -> np.ndarray:
    """Which of `commands` belong to the operator of `loss`."""
    if len(document["operators"]) == 1:
        return np.ones(len(commands), bool)
    names = [name if name == loss.operator else group_name(name) for name in profile.operators]
    chosen = np.array([name == loss.operator for name in names])
    return chosen[profile.operator[commands]]
