"""The sum over units, beside the whole."""

import shutil
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.export.silicon.checks import flat
from celosia.sim.export.silicon.checks.flat import WINDOWS, FlatCheck, compare_flat, netlists_of
from celosia.sim.export.silicon.checks.report import FLAT_AGREES
from celosia.sim.export.silicon.power.gates import Stimulus, bits_of, simulate
from celosia.sim.export.silicon.power.netlist import read_netlist
from celosia.sim.export.silicon.power.recording import write_design
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent
from tests.sim.export.silicon.power.test_netlist import ENERGIES, REGISTERED

A = [0, 3, 1, 3, 0, 3, 3, 3, 3]


def test_what_netlists_take_together():
    netlist = read_netlist(REGISTERED, ENERGIES)
    seen = {"y": bits_of([1] * len(A), 1)}
    (done,) = simulate(netlist, [Stimulus({"a": bits_of(A, 2)}, seen, {})])
    one, two = netlists_of([netlist], [done]), netlists_of([netlist] * 2, [done] * 2)
    assert (two.gates, two.flip_flops, two.wrong, two.outputs) == (2, 2, 2, 2)
    assert two.clock_pj == pytest.approx(2 * netlist.clock_pj)
    assert one.edges_pj == pytest.approx([
        float(done.pj[2 * window : 2 * window + 2].mean()) for window in range(WINDOWS)
    ])
    assert two.total(1) == pytest.approx(2 * one.total(1))
    assert FlatCheck(two, one).furthest == pytest.approx(1.0)
    assert FlatCheck(one, two).apart(2) == pytest.approx(-0.5)
    assert np.isclose(FlatCheck(one, one).furthest, 0.0)


def test_modules_of_the_accelerator_and_the_whole_are_simulated_by_the_library_s_energies(
    monkeypatch,
):
    """Two modules that are alike are together twice the whole, which is one of them here."""
    netlist = read_netlist(REGISTERED, ENERGIES)
    read: list[str] = []
    design: Any = SimpleNamespace(verilog="")
    library: Any = SimpleNamespace(liberty="a library")
    for name, value in {
        "read_energies": read.append,
        "split_modules": lambda _: [flat._TOP, f"{flat._TOP}.load", "other"],
        "map_gates": lambda _known, _design, modules, *_: dict.fromkeys(modules, netlist),
        "map_whole": lambda *_: netlist,
        "scopes_of": set,
        "record_short_run": lambda _design, scopes, _tell: scopes,
        "stimulus_of": lambda *_, **__: Stimulus({"a": bits_of(A, 2)}, {}, {}),
    }.items():
        monkeypatch.setattr(flat, name, value)
    yosys: Any = "yosys"
    found = compare_flat(design, (yosys, library), 1, silent)
    assert read == ["a library"]
    assert (found.units.gates, found.whole.gates) == (2, 1)
    assert found.furthest == pytest.approx(1.0)


@pytest.mark.nightly
@pytest.mark.skipif(shutil.which("yosys") is None, reason="takes an hour with the packaged one")
def test_the_sum_over_units_of_tiny():
    try:
        library = choose_library("osu018")
    except EnvironmentProblem as problem:
        pytest.skip(str(problem))
    design = write_design(resolve_config("tiny"))
    found = compare_flat(design, (find_yosys(None), library), 2, silent)
    assert found.furthest <= FLAT_AGREES
