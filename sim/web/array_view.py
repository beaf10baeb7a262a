"""What the scripts of the array's view are given: programs, blocks and challenges."""

import base64
import gzip
from collections.abc import Mapping
from typing import Any, Final

from celosia.isa.presets import resolve_config
from celosia.sim.web.blocks import block_tables
from celosia.sim.web.challenges import CHALLENGES, Posed
from celosia.sim.web.recorded import Recording
from celosia.sim.web.watchable import WATCHED, WATCHED_CYCLES, WATCHED_PRESET, listing
from celosia.sw.driver.assembly import format_commands

__all__ = ["array_document"]

_CYCLES: Final = 2000
"""Cycles that the page keeps, so that one can go back in them."""


def array_document(
    recorded: Mapping[str, Recording], posed: Mapping[str, Posed]
) -> dict[str, Any] | None:
    """A JSON document of the recordings of `WATCHED_PRESET`, and of challenges, by name.

    None if nothing was recorded.
    """
    config = resolve_config(WATCHED_PRESET)
    programs = {
        name: listing(recorded[name].commands, config) for name in WATCHED if name in recorded
    }
    if not programs:
        return None
    return {
        "preset": WATCHED_PRESET,
        "cycles": _CYCLES,
        "budget": WATCHED_CYCLES,
        "programs": programs,
        "blocks": block_tables(),
        "challenges": {name: _challenge(name, each) for name, each in posed.items()},
    }


def _challenge(name: str, posed: Posed) -> dict[str, Any]:
    memory = gzip.compress(posed.answer.memory, mtime=0)
    return {
        "title": CHALLENGES[name].title,
        "hint": CHALLENGES[name].hint,
        "text": "\n".join([f".preset {WATCHED_PRESET}", *format_commands(posed.spoiled), ""]),
        "answer": "\n".join([*format_commands(posed.answer.commands), ""]),
        "memory": base64.b64encode(memory).decode(),
        "digest": posed.answer.digest,
        "cycles": posed.cycles,
        "bound": posed.answer.cycles,
    }
