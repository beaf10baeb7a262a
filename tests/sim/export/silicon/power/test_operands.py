"""Units with operands that nobody recorded."""

import pytest

from celosia.sim.export.silicon.cells.energies import read_energies
from celosia.sim.export.silicon.power.netlist import WIRE_PF, read_netlist
from celosia.sim.export.silicon.power.operands import PERIOD, PULSE, spent_with
from tests.sim.export.silicon.power.small import LIBERTY
from tests.sim.export.silicon.power.test_netlist import REGISTERED, document, register

ENERGIES = read_energies(LIBERTY)


def test_what_does_not_change_takes_nothing():
    assert spent_with(read_netlist(REGISTERED, ENERGIES), {"a": 3}) == 0.0


def test_random_operands_take_more():
    netlist = read_netlist(REGISTERED, ENERGIES)
    assert spent_with(netlist, {"a": None}) > 0.0
    assert spent_with(netlist, {"a": None}) == spent_with(netlist, {"a": None})


def test_pulses():
    text = document({"r": register(2, 5)}).replace("[2, 3]", "[2]")
    edge = 2.0**2 / 2 * (0.01 + WIRE_PF)
    spent = spent_with(read_netlist(text, ENERGIES), {"a": PULSE})
    assert spent == pytest.approx(2 * edge / PERIOD)


def test_a_pulse_is_nothing_that_a_port_may_be():
    """Ports of which nothing is said are zero, and zero takes nothing."""
    netlist = read_netlist(REGISTERED, ENERGIES)
    assert spent_with(netlist, {}) == spent_with(netlist, {"a": 0}) == 0.0
    assert PERIOD == 32
