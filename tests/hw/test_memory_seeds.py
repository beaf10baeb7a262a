"""What local memories hold before anything is written: other garbage for each seed."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from amaranth.hdl import Elaboratable, Fragment

from celosia.hw.accelerator import Accelerator
from celosia.isa.presets import PRESETS

CONFIG = replace(
    PRESETS["tiny"], dim=2, vector_lanes=1, scratchpad_kib=1, accumulator_kib=1, loop_entries=0
)
STORES = {"scratchpad", "accumulator", "parameters", "statistics"}
"""Memories that programs can read before they have written them."""


def contents(design: Elaboratable) -> dict[tuple[str, ...], list[Any]]:
    """The first words of each memory that programs can name, by the modules that it is in."""

    def walk(fragment: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
        data = getattr(fragment, "_data", None)  # A memory's.
        if data is not None and STORES.intersection(path):
            yield path, list(data.init)[:8]
        for part, name, *_ in fragment.subfragments:
            yield from walk(part, (*path, str(name)))

    return {path: words for path, words in walk(Fragment.get(design, None), ()) if words[0] != 0}


def test_every_memory_that_programs_read_has_garbage_of_its_seed():
    one, other = (contents(Accelerator(CONFIG, memory_seed=seed)) for seed in (1, 2))
    assert {store for path in one for store in STORES.intersection(path)} == STORES
    assert one.keys() == other.keys()
    assert all(len({*words}) > 4 for words in one.values())
    assert all(words != other[path] for path, words in one.items())
    assert not contents(Accelerator(CONFIG))
