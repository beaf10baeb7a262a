"""Which memories are macros, and what the others count as."""

import pytest

from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.inventory import FoundMemory
from celosia.sim.export.rams import Ram
from celosia.sim.export.silicon.area.memories import (
    BOXES,
    LATCH_GATES,
    DesignMemory,
    memories_of,
    ram_gates,
)
from tests.support.exports import exported

PLACE = "accelerator.parameters.rows"


@pytest.mark.parametrize(
    ("memory", "box"),
    [
        (DesignMemory(PLACE, 128, 32, 3), "parameters"),
        (DesignMemory(PLACE, 127, 32, 3), None),
        (DesignMemory(PLACE, 128, 32, 0), None),
        (DesignMemory("accelerator.store.unit.drain.buffer", 512, 512, 1), None),
    ],
    ids=["a macro", "below 4 kbit", "read combinationally", "elsewhere"],
)
def test_black_boxes(memory, box):
    assert memory.box == box


@pytest.mark.parametrize(
    ("path", "box"),
    [
        ("accelerator.scratchpad.bank_1", "scratchpad"),
        ("accelerator.accumulator.bank_1", "accumulator"),
        ("accelerator.transform.unit.statistics.totals", "statistics"),
        ("accelerator.loops.body", "loop body"),
    ],
)
def test_black_boxes_are_called_after_their_places(path, box):
    assert DesignMemory(path, 128, 32, 1).box == box


def test_copies():
    assert DesignMemory(PLACE, 128, 32, 3).copies == 3
    assert DesignMemory(PLACE, 128, 32, 0).copies == 1


def test_six_transistors_are_one_and_a_half_gates():
    assert ram_gates(8) == 12


def test_a_bit_of_a_latch_is_what_the_document_says():
    """docs/silicon.md: "with latches at 4 GE a bit"."""
    assert LATCH_GATES == 4


def test_all_memories_of_a_design():
    ram = Ram(single_port=False, rows=8, bits=16, element_bits=8, reads=2)
    found = [
        FoundMemory("small", None, 4, 3),
        FoundMemory("one", None, 1, 900),
        FoundMemory("two", None, 2, 5),
        FoundMemory("box", ram.name),
    ]
    assert memories_of(found, [ram]) == [
        DesignMemory("box", 8, 16, 2),
        DesignMemory("small", 4, 3, 0),
        DesignMemory("two", 2, 5, 0),
    ]


def test_memories_of_the_accelerator():
    """Parameters and statistics have clocked reads, several of them."""
    design = exported(TopChoice.CORE, Memories.BLACKBOX)
    memories = {memory.path: memory for memory in memories_of(design.memories, design.rams)}
    statistics = "accelerator.transform.unit.statistics"
    assert memories["accelerator.parameters.rows"].reads == 3
    assert memories[f"{statistics}.totals"].reads == memories[f"{statistics}.squares"].reads == 2
    assert memories[f"{statistics}.maxima"].reads == 1
    assert all(any(path.startswith(place) for path in memories) for place in BOXES)
