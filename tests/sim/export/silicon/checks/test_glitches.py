"""The gates before registers, with and without delays."""

import shutil
from dataclasses import replace

import numpy as np
import pytest

from celosia.sim.export.silicon.checks.glitches import add_glitches, gates_before, registers_of
from celosia.sim.export.silicon.power.gates import Stimulus, bits_of, observed
from celosia.sim.export.silicon.power.netlist import GateNetlist, read_netlist
from tests.sim.export.silicon.power.test_netlist import ENERGIES, document, nand, register

# y_0 takes over nand(a0, nand(a0, a1)); bit 8 is a register of another signal.
NETLIST = document({
    "g": nand(2, 3, 4),
    "h": nand(2, 4, 6),
    "i": nand(6, 8, 7),
    "r": register(6, 5),
    "s": register(7, 8),
})
STIMULUS = Stimulus({"a": bits_of([0, 3, 0, 3, 1], 2)}, {}, {})


@pytest.fixture(scope="module")
def netlist() -> GateNetlist:
    return read_netlist(NETLIST, ENERGIES)


def test_only_what_is_before_a_register(netlist: GateNetlist):
    places = registers_of(netlist, ["q"])
    assert len(places) == 1
    gates = gates_before(netlist, netlist.data[places].tolist())
    assert sorted(len(gate.inputs) for gate in gates) == [0, 0, 2, 2]
    assert [bool(gate.inputs) for gate in gates] == [False, False, True, True]


def test_what_has_no_delay_of_its_own_is_as_late_as_registers(netlist: GateNetlist):
    """A port has none; something else may drive it, whose delay is known then."""
    first, second = next(port.nets for port in netlist.driven if port.name == "a").tolist()
    rise, fall = np.zeros(netlist.nets), np.zeros(netlist.nets)
    rise[netlist.state], fall[netlist.state] = 0.25, 0.125
    rise[first] = 0.75
    places = netlist.data[registers_of(netlist, ["q"])].tolist()
    gates = gates_before(replace(netlist, rise_ns=rise, fall_ns=fall), places)
    delays = {gate.net: (gate.rise_ps, gate.fall_ps) for gate in gates}
    assert (delays[first], delays[second]) == ((750, 0), (250, 125))


def test_values_of_nets(netlist: GateNetlist):
    a = next(port.nets for port in netlist.driven if port.name == "a")
    between = netlist.data[registers_of(netlist, ["q"])]
    assert observed(netlist, STIMULUS, a).tolist() == [[0, 0], [1, 1], [0, 0], [1, 1], [1, 0]]
    assert observed(netlist, STIMULUS, between).ravel().tolist() == [1, 1, 1, 1, 0]


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not there")
def test_a_late_gate_adds_a_pulse(netlist: GateNetlist):
    slow = replace(netlist, rise_ns=np.full(netlist.nets, 0.1), fall_ns=np.full(netlist.nets, 0.1))
    gates, without, _ = add_glitches(slow, STIMULUS, ["q"])
    (first,) = (port.nets for port in netlist.driven if port.name == "a")
    assert gates == 2
    late = slow.fall_ns.copy()
    late[_output_of_g(netlist, first.tolist())] = 0.3
    _, same, more = add_glitches(replace(slow, fall_ns=late), STIMULUS, ["q"])
    assert same == without
    # Where both inputs rise, `h` falls, and rises when `g` has fallen: in two cycles of four.
    (between,) = netlist.data[registers_of(netlist, ["q"])]
    pulse = netlist.rise_pj[between] + netlist.fall_pj[between]
    assert more - without == pytest.approx(2 * pulse / 4)


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not there")
def test_without_delays_there_are_no_glitches(netlist: GateNetlist):
    _, without, with_ = add_glitches(netlist, STIMULUS, ["q"])
    assert 0 < without == pytest.approx(with_)


def _output_of_g(netlist: GateNetlist, inputs: list[int]) -> int:
    """The net of the gate that has both `inputs`."""
    level = netlist.levels[0]
    pairs = np.stack(level.inputs, axis=1).tolist()
    return next(
        net
        for net, own in zip(level.outputs.tolist(), pairs, strict=True)
        if sorted(own) == sorted(inputs)
    )
