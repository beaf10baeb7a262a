"""What modules are given of a recording, and what windows are chosen for."""

from dataclasses import replace

import numpy as np

from celosia.isa.functions.table import Function
from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.power import measure
from celosia.sim.export.silicon.power.gates import bits_of
from celosia.sim.export.silicon.power.measure import (
    MEASURED,
    GroupWindow,
    Sample,
    halves,
    scopes_of,
    stimulus_of,
    windows_of,
)
from celosia.sim.export.silicon.power.netlist import Port, read_netlist
from celosia.sim.export.silicon.power.recording import Design
from celosia.sim.export.silicon.power.waves import Recorded
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import Matmul
from tests.sim.export.silicon.power.test_events import COUNTERS
from tests.sim.export.silicon.power.test_netlist import ENERGIES, REGISTERED


def netlist_with(*driven: str):
    """A netlist that is driven at ports of these names alone."""
    netlist = read_netlist(REGISTERED, ENERGIES)
    ports = [Port(name, np.array([2], np.int32)) for name in driven]
    return replace(netlist, driven=ports)


def signal(*values: int):
    return bits_of([*values], 1)


def test_the_accelerator_and_its_counters_are_measured():
    assert MEASURED == ("celosia_axi.accelerator", "celosia_axi.counters")


def test_places_that_drive_a_module():
    """Its own ports, and outputs of the modules in it, by the place of each."""
    netlists = {"top.a": netlist_with("x", "part.y"), "top.b": netlist_with("u.v.z")}
    assert scopes_of(netlists) == {"top.a", "top.b", "top.a.part", "top.b.u.v"}


def test_what_drives_a_module_is_what_was_recorded_at_its_ports():
    netlist = netlist_with("a", "part.y")
    recorded = {
        "top.m": Recorded({"a": signal(0, 1), "q": signal(1, 1), "y": signal(1, 0)}),
        "top.m.part": Recorded({"y": signal(1, 1)}),
        "top.more": Recorded({"r": signal(0, 0)}),
    }
    own = stimulus_of("top.m", netlist, recorded)
    assert {name: bits.ravel().tolist() for name, bits in own.driven.items()} == {
        "a": [0, 1],
        "part.y": [1, 1],
    }
    # Registers begin with what they have in the first cycle.
    assert {name: bits.tolist() for name, bits in own.first.items()} == {
        "a": [[0]],
        "q": [[1]],
        "y": [[1]],
    }
    assert own.seen.keys() <= {port.name for port in netlist.seen}
    assert all(bits.ravel().tolist() == [1, 0] for bits in own.seen.values())
    flat = stimulus_of("top.m", netlist, recorded, flat=True)
    # `top.more` is no part of `top.m`.
    assert flat.first.keys() == {"a", "q", "y", "part.y"}
    assert flat.first["part.y"].tolist() == [[1]]


def test_halves_have_both_kinds_of_energy():
    """The second half has one cycle more if their number is odd."""
    whole = Sample({"mac": np.arange(5.0)}, {"g": GroupWindow(np.arange(5.0), 10 + np.arange(5.0))})
    first, second = halves(whole)
    assert first.events["mac"].tolist() == first.groups["g"].pj.tolist() == [0, 1]
    assert second.events["mac"].tolist() == second.groups["g"].pj.tolist() == [2, 3, 4]
    assert first.groups["g"].gated_pj.tolist() == [10, 11]
    assert second.groups["g"].gated_pj.tolist() == [12, 13, 14]


def test_windows_are_of_rows_commands_and_each_function(monkeypatch):
    """They are chosen by the counters of the whole span, from its first cycle on."""
    asked = []

    def recording(design, options, windows, scopes, tell, *, only):
        asked.append((windows, [*scopes], only))
        yield {"celosia_axi.counters": COUNTERS}

    def chosen(events, first, names):
        assert events["mac"].tolist() == [16, 0, 0, 0]
        assert first == 100
        functions = [f"lane_step_{each.name.lower()}" for each in Function]
        assert names == ["array_row", "command", *functions]
        return [(104, 700)]

    monkeypatch.setattr(measure, "record", recording)
    monkeypatch.setattr(measure, "choose_windows", chosen)
    design = Design(resolve_config("tiny", ["vector_lanes=2"]), "", "")
    options = RunOptions(workload="matmul", details=Matmul(shape="4x4x4"))
    assert windows_of(design, options, (100, 900), silent) == [(104, 700)]
    assert asked == [([(100, 900)], ["celosia_axi.counters"], "celosia_axi.counters")]
