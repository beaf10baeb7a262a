"""What a page shows of each cycle: which of the model's variables, and where they stand in words.

The names are those of `hw`, below the accelerator, as Verilator has them after the passes of
`celosia.sim.verilator.netlist`; with `watched_header.py`, which finds them, no other file has them.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.queues import queue_names

__all__ = ["CELLS", "FLAGS", "SAID", "Flag", "flags_of", "watched_words"]

CELLS: Final = ("weight", "shadow", "activation", "sum")
"""What is shown of each cell of the mesh, row by row: its registers.

The activation is the one that its sum has in it; that of the last column, which hands it to nobody,
is what its left neighbor held a cycle before.
"""

SAID: Final = ("cycle", "accepted", "turns", "product")
"""What `watched.cpp` adds: the run's cycle (0 before the first), commands taken, whether the array
turns to a product in the next cycle, and the number of the command of the one before that."""
_COUNTED_BYTES: Final = 8


@dataclass(frozen=True, kw_only=True)
class Flag:
    """Something that a block of the data path does in a cycle, or does not."""

    block: str
    """A name of `celosia.sim.reporting.data_path.BLOCKS`."""
    says: str
    signals: tuple[str, ...]
    """It does if one of these is not 0."""
    state: tuple[str, str] | None = None
    """And only if this signal is this member of `Space`."""
    early: bool = False
    """They say it of the cycle that follows."""
    unit: bool = False
    """It is there with a normalization unit only."""


def _load(block: str, space: str) -> Flag:
    return Flag(
        block=block,
        says="a loaded row comes",
        signals=("load__DOT__unit__DOT__rows__DOT__offered",),
        state=("load__DOT__unit__DOT__rows__DOT__space", space),
        early=True,
    )


def _granted(memory: str, port: str, says: str, *, unit: bool = False) -> Flag:
    return Flag(block=memory, says=says, signals=(f"{memory}__DOT__{port}_granted",), unit=unit)


FLAGS: Final = (
    Flag(
        block="decoder",
        says="a command is in its stages",
        signals=("decoder__DOT__s1_valid", "decoder__DOT__s2_valid"),
    ),
    _granted("scratchpad", "weights", "rows of weights are read"),
    _granted("scratchpad", "operands", "a row of A or D is read"),
    _granted("scratchpad", "store", "a store reads a row"),
    _granted("scratchpad", "transform", "a transform reads a row", unit=True),
    Flag(
        block="scratchpad",
        says="a row of results comes",
        signals=("results___05Fvalid",),
        early=True,
    ),
    Flag(
        block="scratchpad",
        says="a row of a transform comes",
        signals=("words___05Fvalid", "words2___05Fvalid"),
        early=True,
        unit=True,
    ),
    _load("scratchpad", "SCRATCHPAD"),
    Flag(
        block="accumulator",
        says="a row is added or written",
        signals=("accumulator__DOT__s1_valid_0", "accumulator__DOT__s1_valid_1"),
    ),
    _granted("accumulator", "store", "a store reads a row"),
    _granted("accumulator", "transform", "a transform reads a row", unit=True),
    _load("accumulator", "ACCUMULATOR"),
    _granted("parameters", "store", "a store reads parameters"),
    _granted("parameters", "transform", "a transform reads parameters", unit=True),
    _load("parameters", "PARAMETER"),
)
"""What is told of blocks, besides the owners of their units."""


def flags_of(config: AcceleratorConfig) -> list[Flag]:
    """The flags that an accelerator of `config` has, in the order of `FLAGS`."""
    return [flag for flag in FLAGS if config.normalization or not flag.unit]


def watched_words(config: AcceleratorConfig) -> dict[str, Any]:
    """Where everything stands among the words of a cycle, for `watch.js`: a JSON document."""
    cells = config.dim * config.dim
    flags, queues = flags_of(config), queue_names(config)
    after = len(CELLS) * cells
    said = after + len(flags) + len(queues)
    return {
        "dim": config.dim,
        "cells": {name: place * cells for place, name in enumerate(CELLS)},
        "flags": [
            {"word": after + place, "block": flag.block, "says": flag.says}
            for place, flag in enumerate(flags)
        ],
        "queues": {name: after + len(flags) + place for place, name in enumerate(queues)},
        "said": {name: said + place for place, name in enumerate(SAID)},
        "events": _events(said + len(SAID)),
        "size": said + len(SAID) + _COUNTED_BYTES,
    }


def _events(first: int) -> dict[str, tuple[int, int, int]]:
    """The word, the lowest bit and a mask of what is counted in a cycle."""
    found: dict[str, tuple[int, int, int]] = {}
    # It loads Amaranth.
    for byte, names in enumerate(import_module("celosia.sim.verilator.observed").EVENT_BYTES):
        for bit, name in enumerate(names):
            found[name] = (first + byte, bit, 1 if len(names) > 1 else 0xFF)
    return found
