"""Gates with delays: a glitch that is long enough is there, and a short one is not."""

import shutil

import numpy as np
import pytest

from celosia.sim.export.silicon.checks.icarus import TimedGate, count_edges
from celosia.sim.support.errors import EnvironmentProblem

XOR, INVERTER = 0b0110, 0b01
GIVEN = np.array([[0], [1], [0], [1]], np.uint8)

needs_icarus = pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not there")


def pulse(late_ps: int) -> list[TimedGate]:
    """An input, its inverse `late_ps` behind it, and both in a gate that is 100 ps slow."""
    return [
        TimedGate(2, 0, [], 10, 10),
        TimedGate(3, INVERTER, [2], late_ps, late_ps),
        TimedGate(4, XOR, [2, 3], 100, 100),
    ]


@needs_icarus
@pytest.mark.parametrize(("late_ps", "pulses"), [(300, 3), (50, 0)])
def test_a_pulse(tmp_path, late_ps: int, pulses: int):
    edges = count_edges(pulse(late_ps), GIVEN, tmp_path)
    # The first cycle is not counted: the input rises, falls and rises in the others.
    assert edges.rises.tolist() == [2, 1, pulses]
    assert edges.falls.tolist() == [1, 2, pulses]
    assert edges.settled.tolist() == [[0, 1, 1], [1, 0, 1], [0, 1, 1], [1, 0, 1]]


@needs_icarus
@pytest.mark.parametrize(("rise_ps", "fall_ps", "pulses"), [(900, 10, 3), (10, 900, 0)])
def test_a_gate_rises_and_falls_each_in_its_own_time(tmp_path, rise_ps, fall_ps, pulses):
    """A pulse of 300 ps is low: a fall that takes longer is none."""
    gates = [*pulse(300)[:2], TimedGate(4, XOR, [2, 3], rise_ps, fall_ps)]
    edges = count_edges(gates, GIVEN, tmp_path)
    assert (edges.rises[2], edges.falls[2]) == (pulses, pulses)
    assert edges.settled[:, 2].tolist() == [1] * 4


@needs_icarus
def test_constants_are_their_own_numbers(tmp_path):
    gates = [TimedGate(2, 0, [], 1, 1), TimedGate(3, 0b1000, [1, 2], 5, 5)]
    assert count_edges(gates, GIVEN, tmp_path).settled[:, 1].tolist() == [0, 1, 0, 1]


def test_no_icarus(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match=r"^iverilog: is not there; Debian's package"):
        count_edges(pulse(300), GIVEN, tmp_path)
