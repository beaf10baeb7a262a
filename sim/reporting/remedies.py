"""What would help against a loss, with a figure."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from celosia.sim.operator_groups import group_name
from celosia.sim.reporting.instructions import owners_between, unit_operations
from celosia.sim.reporting.losses import Loss
from celosia.sim.reporting.profile import Profile
from celosia.sim.reporting.resources import ARRAY, RESOURCES, owner_named
from celosia.sw.driver.assembly import format_command

__all__ = ["remedy"]

_KIB: Final = 1024


def remedy(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """What would help against `loss` of the operator `part` of a run."""
    owner = owner_named(loss.owner)
    advise = _ADVICE.get(owner.group if owner else "", _other)
    return advise(loss, part, document) + _where(loss, document)


def _rate(document: Mapping[str, Any]) -> int:
    return min(document["memory"]["bytes_per_cycle"], document["config"]["bus_bits"] // 8)


def _load(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    rate = _rate(document)
    least = part["dram_read_bytes"] / rate
    if least > (part["cycles"] or 0) - loss.cycles:
        return (
            f"Its {part['dram_read_bytes']:,} bytes need {least:,.0f} cycles at {rate} per cycle, "
            "more than the array's work takes: memory of twice the bandwidth saves at most "
            f"{min(loss.cycles, round(least / 2)):,} cycles."
        )
    return (
        f"Loads come too late, but the bus has time for them: {loss.cycles * rate / _KIB:,.1f} KiB "
        f"loaded earlier save at most {loss.cycles:,} cycles."
    )


def _padding(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    return (
        f"Rows of zeros fill up what A lacks: C as short as A saves up to {loss.cycles:,} cycles."
    )


def _weights(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    dim = document["config"]["dim"]
    return (
        f"Products of fewer than {dim} rows are over before the next weights are in the array: at "
        f"least {dim} rows for each tile of weights save up to {loss.cycles:,} cycles."
    )


def _bank(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    return (
        "Two units want the same bank: operands in banks of their own save up to "
        f"{loss.cycles:,} cycles."
    )


def _transform(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    return (
        "The array has nothing to multiply while rows are transformed: products of another part "
        f"(a head, a text, a block of rows) in between save up to {loss.cycles:,} cycles."
    )


def _store(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    least = part["dram_write_bytes"] / _rate(document)
    return (
        f"Results leave too slowly: {part['dram_write_bytes']:,} bytes need {least:,.0f} cycles of "
        f"the bus; a free place in the accumulator at that time saves up to {loss.cycles:,} cycles."
    )


def _execute(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    return (
        "A product needs the result of the one before: products of other tiles in between save up "
        f"to {loss.cycles:,} cycles."
    )


def _command(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    commands = part["commands"]
    each = (part["cycles"] or 0) / max(1, commands)
    return (
        f"Its {commands:,} commands come every {each:.1f} cycles, and the queue of products ran "
        "empty: fewer commands, or products earlier in the program, save up to "
        f"{loss.cycles:,} cycles."
    )


def _drain(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    latency = document["memory"]["latency"]
    return (
        f"All products are over. {latency} cycles are the last response of memory; what is more "
        f"({max(0, loss.cycles - latency):,}) smaller last blocks can save."
    )


def _other(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    return f"Without it the run is at most {loss.cycles:,} cycles shorter."


_ADVICE: Final = {
    "load": _load,
    "token": _load,
    "padding": _padding,
    "weights": _weights,
    "bank": _bank,
    "transform": _transform,
    "vector": _transform,
    "store": _store,
    "accumulator": _store,
    "execute": _execute,
    "hazard": _execute,
    "command": _command,
    "drain": _drain,
}
"""By the group of the owner."""


def _where(loss: Loss, document: Mapping[str, Any]) -> str:
    """The product that lost the most of it, of a run with a log."""
    if document.get("profile") is None:
        return ""
    profile = _profile(document)
    unit = unit_operations(profile).get("execute")
    owners = [owner.name for owner in RESOURCES[ARRAY].owners]
    if unit is None or ARRAY not in profile.owners or not len(unit.command):
        return ""
    counts = owners_between(profile.owners[ARRAY], len(owners), unit.begin - unit.lost, unit.end)[
        :, owners.index(loss.owner)
    ]
    inside = _inside(loss, document, profile, unit.command)
    counts = np.where(inside, counts, 0)
    worst = int(np.argmax(counts))
    if not counts[worst]:
        return " It is behind the last product."
    index = int(unit.command[worst])
    return (
        f" The most at one place: {counts[worst]:,} cycles before command {index} "
        f"({format_command(profile.commands[index])})."
    )


_kept: dict[int, Profile] = {}


def _profile(document: Mapping[str, Any]) -> Profile:
    key = id(document)
    if key not in _kept:
        _kept.clear()
        _kept[key] = Profile.from_document(document["profile"])
    return _kept[key]


def _inside(
    loss: Loss, document: Mapping[str, Any], profile: Profile, commands: np.ndarray
) -> np.ndarray:
    """Which of `commands` belong to the operator of `loss`."""
    if len(document["operators"]) == 1:
        return np.ones(len(commands), bool)
    names = [name if name == loss.operator else group_name(name) for name in profile.operators]
    chosen = np.array([name == loss.operator for name in names])
    return chosen[profile.operator[commands]]
