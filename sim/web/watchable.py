"""The programs whose every cycle the page shows: their commands as texts."""

from collections.abc import Sequence
from itertools import islice
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.operations.loops import expand
from celosia.sw.driver.assembly import format_command

__all__ = ["WATCHED", "WATCHED_CYCLES", "WATCHED_PRESET", "listing"]

WATCHED_PRESET: Final = "tiny"
"""The accelerator that is small enough to be looked at cell by cell."""

WATCHED_CYCLES: Final = 200_000
"""The cycles after which a program is stopped; a command takes one at least."""

WATCHED: Final = ("small-product", "row-product", "softmax", "product")
"""The names of those `celosia.sim.web.programs.PROGRAMS` that are offered, the usual one first."""


def listing(commands: Sequence[Command], config: AcceleratorConfig) -> dict[str, Any]:
    """Each command's text, and which command each of those is made of that loops stand for.

    Of these, as many as a page ever runs.
    """
    return {
        "texts": [format_command(command) for command in commands],
        "sources": [index for index, _ in islice(expand(commands, config), WATCHED_CYCLES)],
    }
