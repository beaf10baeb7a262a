"""What a program could do against a loss, with the most that it saves.

What other hardware saves is said by `celosia.sim.profile.whatif` alone, which asks a model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from celosia.isa.registers.queues import QUEUES
from celosia.sim.profile.instructions import owners_between, unit_operations
from celosia.sim.profile.losses import Loss
from celosia.sim.profile.operator_groups import group_name
from celosia.sim.profile.profile import Profile
from celosia.sim.profile.resources import ARRAY, RESOURCES, owner_named
from celosia.sim.reporting.alike_operators import members
from celosia.sim.support.words import counted
from celosia.sw.driver.assembly import format_command

__all__ = ["ADVICE", "bounded_by_memory", "remedy"]

_KIB: Final = 1024
_CLOSE: Final = 1.1
"""The multiple of memory's limit up to which a run counts as bounded by memory."""
_QUEUE: Final = "wait_queue_"
"""Begins the owner of a wait for a place in a queue, whose name follows."""


def remedy(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    """What would help against `loss` of the operator `part` of a run."""
    owner = owner_named(loss.owner)
    group = owner.group if owner else ""
    worst = _worst(loss, document)
    if worst and worst.command is None and group == "command":
        return _behind(loss, document)
    advise = ADVICE.get(loss.owner) or ADVICE.get(group, _other)
    return advise(loss, part, document) + (_where(worst, document) if worst else "")


def bounded_by_memory(document: Mapping[str, Any]) -> bool:
    """Whether a run is about as long as memory alone makes it."""
    limit = document["limit"]
    if not limit or limit["bound"] == "compute":
        return False
    return document["cycles"] <= _CLOSE * limit["cycles"]


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
        f"The bus gave all that it has, {rate} bytes per cycle: "
        f"{loss.cycles * rate / _KIB:,.1f} KiB loaded earlier or not at all save at most "
        f"{loss.cycles:,} cycles."
    )


def _requests(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    many, latency = document["config"]["read_requests"], document["memory"]["latency"]
    return (
        f"At a latency of {latency}, {many} requests in flight are too few: longer rows save at "
        f"most {loss.cycles:,} cycles."
    )


def _weights(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    dim = document["config"]["dim"]
    if bounded_by_memory(document):
        return "Memory bounds this run: weights that move in meanwhile cost nothing."
    return (
        f"Products of fewer than {dim} rows are over before the next weights are in the array, and "
        "one that waits for its operands begins with its weights: more rows for each tile of "
        f"weights, or operands in time, save at most {loss.cycles:,} cycles."
    )


def _store(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    least = part["dram_write_bytes"] / _rate(document)
    return (
        f"Results leave too slowly: {part['dram_write_bytes']:,} bytes need {least:,.0f} cycles of "
        "the bus; a free place in the accumulator at that time saves at most "
        f"{loss.cycles:,} cycles."
    )


def _command(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    commands = part["commands"]
    each = (part["cycles"] or 0) / max(1, commands)
    return (
        f"Its {counted(commands, 'command')} {'comes' if commands == 1 else 'come'} every "
        f"{each:.1f} cycles, and the queue of products ran "
        "empty: fewer commands, or products earlier in the program, save at most "
        f"{loss.cycles:,} cycles."
    )


def _queue(loss: Loss, part: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    depth = document["config"][f"{loss.owner.removeprefix(_QUEUE)}_queue"]
    return (
        f"Commands behind a full queue of {depth} wait, and so do products among them: a program "
        f"that fills it later saves at most {loss.cycles:,} cycles."
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
ADVICE: Final = {
    "wait_load_bandwidth": _bandwidth,
    "wait_load_requests": _requests,
    **{f"{_QUEUE}{name}": _queue for name in QUEUES},
    "load": _late,
    "token": _at_most(
        "What is loaded has to be stored first: work on other tensors in between, or results that "
        "stay on the chip, save at most {} cycles."
    ),
    "padding": _at_most(
        "Rows of zeros fill up what A lacks: C as short as A saves at most {} cycles."
    ),
    "weights": _weights,
    "bank": _at_most(
        "Two units want the same bank: operands in banks of their own save at most {} cycles."
    ),
    "transform": _at_most(
        "The array has nothing to multiply while rows are transformed: products of another part "
        "(a head, a text, a block of rows) in between save at most {} cycles."
    ),
    "accumulator": _store,
    "hazard": _at_most(
        "Operations follow too closely on those that they need: others in between, or rows of "
        "their own, save at most {} cycles."
    ),
    "command": _command,
    "drain": _drain,
}
"""What gives the advice about a loss, by the owner of the lost cycles or by its group."""


@dataclass(frozen=True)
class _Worst:
    """Where most of a loss is."""

    cycles: int
    command: int | None
    """The product behind it; None: it is behind the last one."""


def _worst(loss: Loss, document: Mapping[str, Any]) -> _Worst | None:
    """The product that lost the most of it, of a run with a log; None: nobody knows."""
    if document.get("profile") is None:
        return None
    profile = _profile(document)
    unit = unit_operations(profile).get("execute")
    owners = [each.name for each in RESOURCES[ARRAY].owners]
    if unit is None or ARRAY not in profile.owners or not len(unit.command):
        return None
    counts = owners_between(profile.owners[ARRAY], len(owners), unit.begin - unit.lost, unit.end)[
        :, owners.index(loss.owner)
    ]
    inside = _inside(loss, document, profile, unit.command)
    counts = np.where(inside, counts, 0)
    worst = int(np.argmax(counts))
    if not counts[worst]:
        return _Worst(loss.cycles, None)
    return _Worst(int(counts[worst]), int(unit.command[worst]))


def _where(worst: _Worst, document: Mapping[str, Any]) -> str:
    if worst.command is None:
        return ""  # The advice says so: it is the drain.
    text = format_command(_profile(document).commands[worst.command])
    return (
        f" The most at one place: {worst.cycles:,} cycles before command {worst.command} ({text})."
    )


def _behind(loss: Loss, document: Mapping[str, Any]) -> str:
    """Commands that wait when there is nothing more to multiply."""
    profile = _profile(document)
    last = np.array([unit_operations(profile)["execute"].end.max()])
    end = np.array([profile.cycles])
    busy = {
        name: sum(
            int(cycles)
            for owner, cycles in zip(
                table.owners,
                owners_between(profile.owners[name], len(table.owners), last, end)[0],
                strict=True,
            )
            if owner.group in table.work
        )
        for name, table in RESOURCES.items()
        if name in profile.owners
    }
    return (
        f"It is behind the last product, in the last {int(end[0] - last[0]):,} cycles: the last "
        f"rows are still transformed ({busy.get('vector', 0):,} cycles of the vector unit) "
        f"and stored ({busy.get('write', 0):,} for the bus). A deeper queue saves nothing; a "
        f"smaller last block, whose way out is shorter, saves at most {loss.cycles:,} cycles."
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
    (part,) = (part for part in document["operators"] if part["workload"] == loss.operator)
    wanted = members(part)
    names = [name if name in wanted else group_name(name) for name in profile.operators]
    chosen = np.array([name in wanted for name in names])
    return chosen[profile.operator[commands]]
