"""The sum over units, beside the whole."""

import shutil

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.cells.library import choose_library
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
