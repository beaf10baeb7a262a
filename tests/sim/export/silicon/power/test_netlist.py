"""Netlists as arrays: what is where, and what each edge takes."""

import json
from typing import Any

import numpy as np
import pytest

from celosia.sim.export.silicon.cells.energies import read_energies
from celosia.sim.export.silicon.power.gates import (
    MOST_WINDOWS,
    Simulated,
    Stimulus,
    bits_of,
    simulate,
)
from celosia.sim.export.silicon.power.netlist import WIRE_PF, GateNetlist, read_netlist
from celosia.sim.support.errors import EnvironmentProblem
from tests.sim.export.silicon.power.small import LIBERTY

ENERGIES = read_energies(LIBERTY)


def document(cells: dict[str, Any], extra: dict[str, Any] | None = None) -> str:
    """A module with inputs a (bits 2, 3) and clk (9), output y (bit 5), and a signal q (bit 5)."""
    top = {
        "ports": {
            "a": {"direction": "input", "bits": [2, 3]},
            "clk": {"direction": "input", "bits": [9]},
            "y": {"direction": "output", "bits": [5]},
        },
        "cells": cells,
        "netnames": {"q": {"bits": [5]}},
    }
    return json.dumps({"modules": {"top": top, **(extra or {})}})


def nand(a: Any, b: Any, y: Any) -> dict[str, Any]:
    return {"type": "NAND2X1", "connections": {"A": [a], "B": [b], "Y": [y]}}


def register(d: Any, q: Any) -> dict[str, Any]:
    return {"type": "DFFPOSX1", "connections": {"CLK": [9], "D": [d], "Q": [q]}}


REGISTERED = document({"g": nand(2, 3, 4), "r": register(4, 5)})


def alone(netlist: GateNetlist, driven: Any, seen: Any, first: Any) -> Simulated:
    """What a simulation of one window shows."""
    (done,) = simulate(netlist, [Stimulus(driven, seen, first)])
    return done


def test_a_registered_gate():
    netlist = read_netlist(REGISTERED, ENERGIES)
    assert (netlist.gates, netlist.flip_flops) == (1, 1)
    assert [port.name for port in netlist.driven] == ["a"]
    a = bits_of([0, 3, 1, 3], 2)
    done = alone(netlist, {"a": a}, {"y": bits_of([0, 1, 0, 1], 1)}, {"q": bits_of([0], 1)})
    assert done.wrong == {}
    # The gate's output is 1, 0, 1, 0; the register's 0, 1, 0, 1.
    assert list(done.edges) == [4, 3, 3]
    assert list(done.clocked) == [True, True, True]


def test_what_edges_take():
    assert WIRE_PF == 0.01  # docs/silicon.md: 0.01 pF to each input.
    netlist = read_netlist(REGISTERED, ENERGIES)
    (a,) = (port.nets for port in netlist.driven)
    (y,) = (port.nets for port in netlist.seen)
    half = 2.0**2 / 2
    assert netlist.rise_pj[a] == pytest.approx([half * (0.01 + WIRE_PF), half * (0.02 + WIRE_PF)])
    # A NAND's rise at 0.02 pF: 4 at no load and 9 at 0.1, so 5; then its load.
    between = netlist.data
    assert netlist.rise_pj[between] == pytest.approx([5.0 + half * (0.01 + WIRE_PF)])
    assert netlist.fall_pj[between] == pytest.approx([1.0 + half * (0.01 + WIRE_PF)])
    assert netlist.rise_pj[y] == pytest.approx([0.0])
    # A rise and a fall of the clock, with what the pin takes itself.
    assert netlist.clock_pj == pytest.approx(2.0**2 * (0.04 + WIRE_PF) + 0.25 + 0.5)


def test_the_sum_of_a_cycle():
    netlist = read_netlist(REGISTERED, ENERGIES)
    done = alone(netlist, {"a": bits_of([0, 2, 0], 2)}, {}, {"q": bits_of([1], 1)})
    assert done.pj == pytest.approx([2 * (0.02 + WIRE_PF)] * 2)


def test_registers_begin_with_what_was_recorded():
    netlist = read_netlist(REGISTERED, ENERGIES)
    done = alone(
        netlist, {"a": bits_of([3, 3], 2)}, {"y": bits_of([1, 0], 1)}, {"q": bits_of([1], 1)}
    )
    assert done.wrong == {}


def test_windows_beside_each_other():
    """Each has its own ports, its own registers, and its own outputs to compare with."""
    netlist = read_netlist(REGISTERED, ENERGIES)
    windows = [
        Stimulus({"a": bits_of([0, 3, 1, 3], 2)}, {}, {"q": bits_of([0], 1)}),
        Stimulus({"a": bits_of([3, 3, 3, 3], 2)}, {"y": bits_of([0, 0, 1, 0], 1)}, {}),
        Stimulus({"a": bits_of([3, 3, 3, 3], 2)}, {}, {"q": bits_of([1], 1)}),
    ]
    together = simulate(netlist, windows)
    for done, window in zip(together, windows, strict=True):
        single = alone(netlist, window.driven, window.seen, window.first)
        assert (list(done.pj), list(done.edges)) == (list(single.pj), list(single.edges))
        assert list(done.clocked) == list(single.clocked)
        assert done.wrong == single.wrong
    assert [list(done.edges) for done in together] == [[4, 3, 3], [0, 0, 0], [1, 0, 0]]
    assert [done.wrong for done in together] == [{}, {"y": 0.25}, {}]


def test_as_many_windows_as_there_may_be():
    """Each is a bit of a word."""
    assert np.iinfo(np.uint64).bits == MOST_WINDOWS
    netlist = read_netlist(REGISTERED, ENERGIES)
    window = Stimulus({"a": bits_of([0, 3, 1, 3], 2)}, {}, {})
    found = simulate(netlist, [window] * MOST_WINDOWS)
    assert {tuple(done.edges) for done in found} == {(4, 3, 3)}


def test_an_output_that_is_not_what_was_recorded():
    netlist = read_netlist(REGISTERED, ENERGIES)
    done = alone(netlist, {"a": bits_of([3, 3, 3, 3], 2)}, {"y": bits_of([0, 0, 1, 0], 1)}, {})
    assert done.wrong == {"y": 0.25}


def test_parts_drive_what_instantiates_them():
    part = {
        "ports": {
            "i": {"direction": "input", "bits": [2]},
            "o": {"direction": "output", "bits": [3]},
        }
    }
    cells = {
        "p": {"type": "part_0", "connections": {"i": [2], "o": [7]}},
        "g": nand(7, "1", 5),
    }
    netlist = read_netlist(document(cells, {"part_0": part}), ENERGIES)
    assert [port.name for port in netlist.driven] == ["p.o", "a", "clk"]
    done = alone(netlist, {"p.o": bits_of([0, 1], 1)}, {"y": bits_of([1, 0], 1)}, {})
    assert done.wrong == {}


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ({"g": nand(2, 5, 5)}, "1 gates depend on themselves"),
        ({"l": {"type": "LATCH", "connections": {}}}, "l: the library says no energy of LATCH"),
        (
            {
                "r": register(2, 5),
                "s": {"type": "DFFPOSX1", "connections": {"CLK": [3], "D": [2], "Q": [6]}},
            },
            "several clocks",
        ),
    ],
)
def test_bad_netlists(cells: dict[str, Any], problem: str):
    with pytest.raises(EnvironmentProblem, match=problem):
        read_netlist(document(cells), ENERGIES)


def test_wide_numbers_as_bits():
    assert np.array_equal(bits_of([0x201], 10), [[1, 0, 0, 0, 0, 0, 0, 0, 0, 1]])
