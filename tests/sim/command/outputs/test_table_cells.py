"""Cells and captions that several tables have in common."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.command.outputs.table_cells import memory_caption


@pytest.mark.parametrize(
    ("preset", "rate", "text"),
    [
        ("tiny", 16, "latency 40, 4 bytes per cycle (bus; memory: 16)"),
        ("tiny", 4, "latency 40, 4 bytes per cycle"),
        ("tiny", 2, "latency 40, 2 bytes per cycle (memory; bus: 4)"),
        ("base", 16, "latency 40, 16 bytes per cycle"),
    ],
)
def test_the_rate_is_that_of_the_slower_one(preset, rate, text):
    caption = memory_caption(MemoryTiming(bytes_per_cycle=rate), PRESETS[preset])
    assert caption == f"memory: {text}"
