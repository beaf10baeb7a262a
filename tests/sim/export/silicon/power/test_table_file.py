"""The table of what was measured: from simulated windows to a file that is read again."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.energy.memories import access_pj
from celosia.sim.export.silicon.energy.table import Entry, parse_table
from celosia.sim.export.silicon.energy.unit_events import UNIT_EVENTS
from celosia.sim.export.silicon.power.events import GROUPS, OTHERS
from celosia.sim.export.silicon.power.measure import GroupWindow, Sample, group_of, halves
from celosia.sim.export.silicon.power.table_file import (
    Static,
    entries_of,
    memory_entries,
    table_text,
)

CYCLES = 512
MESH = "cells, skew and alignment"
BESIDE = {"weight_byte": Entry(2.0, "own"), "scaled_load_byte": Entry(5.0, "own")}
STATICS = (Static(100.0, 0.5, 9), Static(30.0, 0.25, 3))


def sample(seed: int, mac: float) -> Sample:
    """Cycles in which the array takes `mac` a product, and nothing else takes anything."""
    draw = np.random.default_rng(seed)
    events: dict[str, NDArray[np.floating[Any]]] = {
        name: np.zeros(CYCLES) for group in (*GROUPS, OTHERS) for name in group.events
    }
    events |= {name: np.zeros(CYCLES) for name in BESIDE}
    events["mac"] = np.repeat((draw.random(16) < 0.5) * 4.0, 32)
    events["weight_byte"][40] = 16.0
    spent = {
        group.meaning: GroupWindow(np.zeros(CYCLES), np.zeros(CYCLES))
        for group in (*GROUPS, OTHERS)
    }
    stages = next(group.stages for group in GROUPS if group.meaning == MESH)
    late = np.convolve(events["mac"], np.full(stages, 1 / stages))[:CYCLES]
    spent[MESH] = GroupWindow(mac * late + 7.0, np.full(CYCLES, 3.0))
    spent[MESH].pj[40] += 16 * 2.0
    return Sample(events, spent)


def test_entries():
    entries = entries_of([[sample(1, 3.0)], [sample(2, 3.0)]], STATICS, BESIDE)
    assert entries["mac"].pj == pytest.approx(3.0)
    assert entries["mac"].source == f"{MESH}: sets are 0.0% apart"
    assert entries["idle_cycle"].pj == pytest.approx(7.0 + 0.5)
    assert entries["idle_cycle"].clock_pj == pytest.approx(3.0)
    assert entries["clock_cycle"] == Entry(100.0, "clock pins of 9 flip-flops")
    assert entries["transform_idle_cycle"].pj == pytest.approx(0.25)
    assert entries["transform_clock_cycle"].pj == 30.0
    assert entries["weight_byte"] == BESIDE["weight_byte"]


def test_sets_that_differ():
    entries = entries_of([[sample(1, 2.0)], [sample(2, 4.0)]], STATICS, BESIDE)
    assert entries["mac"].source.endswith("sets are 66.7% apart")


def test_the_file_is_a_table():
    entries = entries_of([[sample(1, 3.0)]], STATICS, BESIDE)
    entries |= memory_entries(resolve_config("tiny"), 1.8)
    text = table_text("mine", ["a", "b"], entries)
    assert text.startswith('name = "mine"\n\n# a\n# b\n')
    assert parse_table(text, "t").entries.keys() == entries.keys()
    assert parse_table(text, "t").entries["mac"].pj == pytest.approx(3.0, rel=1e-3)


def test_groups_are_of_events_that_exist():
    named = {name for group in (*GROUPS, OTHERS) for name in (*group.events, *group.beside)}
    assert named - {"mac"} <= UNIT_EVENTS.keys()
    assert group_of("celosia_axi.accelerator.execute.array.mesh").meaning == MESH
    assert group_of("celosia_axi.accelerator.load.unit.reader") is OTHERS


def test_memories():
    # 10 rows of one bit: 2.5 + 10 * 1.8 + wires of a quarter of sqrt(10 * 4.65 / 0.6) um.
    wires = 0.25 * (10 * 4.65 / 0.6) ** 0.5 * 0.2
    assert access_pj(10, 1, 1.0, write=True) == pytest.approx((20.5 + wires) / 1000)
    assert access_pj(10, 1, 1.0, write=False) == pytest.approx((2.5 + 3.6 + 15 + wires) / 1000)
    assert access_pj(10, 1, 2.0, write=True) == pytest.approx(4 * (20.5 + wires) / 1000)
    # Bit lines of a large bank are in parts.
    assert access_pj(1024, 8, 1.0, write=True) < 2 * access_pj(256, 8, 1.0, write=True)


def test_halves_of_a_window():
    whole = sample(1, 3.0)
    first, second = halves(whole)
    for name in ("mac", "weight_byte"):
        together = np.concatenate([first.events[name], second.events[name]])
        assert np.array_equal(together, whole.events[name])
    assert len(first.groups[MESH].pj) == len(second.groups[MESH].pj) == CYCLES // 2
    assert second.groups[MESH].pj[0] == whole.groups[MESH].pj[CYCLES // 2]
