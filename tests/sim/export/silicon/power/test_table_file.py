"""The table of what was measured: from simulated windows to a file that is read again."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from celosia.isa.functions.table import Function
from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.energy.memories import access_pj
from celosia.sim.export.silicon.energy.table import Entry, parse_table
from celosia.sim.export.silicon.energy.unit_events import UNIT_EVENTS
from celosia.sim.export.silicon.power.events import GROUPS, OTHERS
from celosia.sim.export.silicon.power.measure import GroupWindow, Sample, group_of, halves
from celosia.sim.export.silicon.power.netlist import read_netlist
from celosia.sim.export.silicon.power.table_file import (
    EventEnergies,
    Static,
    entries_of,
    memory_entries,
    static_of,
    table_text,
)
from tests.sim.export.silicon.power.test_netlist import ENERGIES, REGISTERED

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


def test_entries_of_memories_and_of_the_bus():
    """A byte takes what an access to a row of `tiny` does over its bytes, 4 or 4 int32."""
    entries = memory_entries(resolve_config("tiny"), 1.8)
    config = resolve_config("tiny")
    assert entries["bus_read_byte"] == entries["bus_write_byte"]
    assert entries["bus_read_byte"].pj == 162.5
    for name, rows, row_bytes in (
        ("scratchpad", config.scratchpad_bank_rows, 4),
        ("accumulator", config.accumulator_bank_rows, 16),
        ("parameter", config.parameter_rows, 16),
    ):
        for access in ("read", "write"):
            pj = access_pj(rows, 8 * row_bytes, 1.8, write=access == "write") / row_bytes
            entry = entries[f"{name}_{access}_byte"]
            assert entry.pj == pytest.approx(pj)
            assert entry.source.startswith(f"{rows} rows of {row_bytes} bytes, terms of CACTI")
    # Transforms write scratchpad rows alone.
    assert {name for name in entries if name.startswith("transform_")} == {
        "transform_scratchpad_read_byte",
        "transform_scratchpad_write_byte",
        "transform_accumulator_read_byte",
        "transform_parameter_read_byte",
    }


def test_what_modules_take_whatever_happens():
    """Leakage is of a cycle of 7.5 ns: nW times ns are attojoules, a million of them a pJ."""
    netlist = read_netlist(REGISTERED, ENERGIES)
    path = "celosia_axi.accelerator"
    rest, own = static_of({
        f"{path}.decoder": netlist,
        f"{path}.transform.unit": netlist,
        f"{path}.transform.lanes.unit.total": netlist,
    })
    assert (rest.flip_flops, own.flip_flops) == (1, 2)
    assert rest.clock_pj == pytest.approx(netlist.clock_pj)
    assert own.clock_pj == pytest.approx(2 * netlist.clock_pj)
    assert own.leakage_pj == pytest.approx(2 * netlist.leakage_nw * 7.5 / 1_000_000)


def test_the_spread_of_sets_is_of_their_mean():
    found = EventEnergies(
        OTHERS, {}, {}, [{"a": 3.0}, {"a": 1.0, "b": 2.0}, {"z": 0.0}, {"z": 0.0}]
    )
    assert found.spread("a") == 1.0
    assert found.spread("b") is None  # In one set alone.
    assert found.spread("c") is None
    assert found.spread("z") is None  # Nothing of which there is a share.


def test_functions_that_did_not_happen_have_the_mean_of_the_others():
    """A mean over functions, not over how often each happened; all else stays unknown."""
    one = sample(1, 3.0)
    lanes = next(group for group in GROUPS if "lane_step_sum" in group.events)
    seen = [name for name in lanes.events if name in {"lane_step_sum", "lane_step_gelu"}]
    for number, name in enumerate(seen):
        spent = one.events[name]
        spent[96 + 160 * number : 160 + 160 * number] = 4.0
        late = np.convolve(spent, np.full(24, 1 / 24))[:CYCLES]
        one.groups["lanes"].pj += (number + 1) * late
    entries = entries_of([[one]], STATICS, BESIDE)
    happened = [entries[name] for name in seen]
    mean = sum(each.pj or 0.0 for each in happened) / 2
    assert mean == pytest.approx(1.5)
    for function in Function:
        name = f"lane_step_{function.name.lower()}"
        assert name in entries
        if name not in seen:
            assert entries[name].pj == pytest.approx(mean)
            assert entries[name].source == "did not happen: the mean of the functions that did"
    assert "requantized_element" not in entries
    assert entries["mac"].source == f"{MESH}: in one set of windows"


def test_halves_of_a_window():
    whole = sample(1, 3.0)
    first, second = halves(whole)
    for name in ("mac", "weight_byte"):
        together = np.concatenate([first.events[name], second.events[name]])
        assert np.array_equal(together, whole.events[name])
    assert len(first.groups[MESH].pj) == len(second.groups[MESH].pj) == CYCLES // 2
    assert second.groups[MESH].pj[0] == whole.groups[MESH].pj[CYCLES // 2]
