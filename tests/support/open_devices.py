"""Devices that the tests of a module share: to open one takes seconds on Amaranth's simulator."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from functools import cache
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FENCE
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.devices.devices import open_device

__all__ = ["Opened", "open_devices"]

Opened = Callable[[str], nullcontext[Any]]
"""Takes the name of a simulator; its device is for a ``with``, which does not close it."""


@contextmanager
def open_devices(config: AcceleratorConfig, timing: MemoryTiming, size: int) -> Iterator[Opened]:
    """Open each simulator when it is first asked for, and close all in the end.

    Memory is zero and no store is counted when a test begins; local memories and configuration are
    what the one before has left.
    """
    with ExitStack() as stack:

        @cache
        def device(simulator: str) -> Any:
            return stack.enter_context(closing(open_device(simulator, config, timing, size)))

        def opened(simulator: str) -> nullcontext[Any]:
            found = device(simulator)
            found.write(MEMORY_BASE, bytes(size))
            found.run([FENCE.encode()])
            return nullcontext(found)

        yield opened
