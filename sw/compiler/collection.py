"""Passes without the garbage collector, which would look for cycles where none are."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection within.

    A program is up to a million small objects that live until it is written, and none is in a
    cycle: the collector would look through all of them again and again, a sixth of all time.
    """
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()
