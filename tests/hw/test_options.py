"""Units that only some configurations have are not there in the others."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from amaranth.hdl import Fragment

from celosia.hw.accelerator import Accelerator
from tests.support.plain import PLAIN

OPTIONS = {
    "dataflow": ("both", {"execute.writer.resident", "execute.writer.resident.memory"}),
    "convolution": (
        True,
        {"store.unit.controller.rows", "store.unit.controller.windows", "store.unit.drain.pool"},
    ),
    "bert": (
        True,
        {"store.unit.drain.lanes", "store.unit.drain.passing", "store.unit.drain.passing.factor"},
    ),
    "loop_ws": (True, {"loops.loop_ws", "loops.loop_ws.unit"}),
}
"""By option: its value when it is on, and the modules that it adds."""


@cache
def modules(**options: str | bool) -> set[str]:
    """Names of the modules below the accelerator."""
    config = PLAIN.with_values(options)
    return set(below(Fragment.get(Accelerator(config), platform=None)))


def below(fragment: Any, prefix: str = "") -> Iterator[str]:
    """Names of the modules below a module."""
    for part, name, _ in fragment.subfragments:
        if name is not None:
            yield prefix + name
            yield from below(part, f"{prefix}{name}.")


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_adds_its_units_and_nothing_is_there_without(option):
    value, added = OPTIONS[option]
    assert modules(**{option: value}) - modules() == added
