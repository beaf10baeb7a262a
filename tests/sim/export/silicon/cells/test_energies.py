"""Energies of cells, read from a Liberty file that is written here."""

import pytest

from celosia.sim.export.silicon.cells.energies import SLEW_NS, read_energies
from celosia.sim.export.silicon.cells.liberty import LibertyError
from tests.sim.export.silicon.power.small import LIBERTY


def test_a_gate():
    energies = read_energies(LIBERTY)
    gate = energies.cells["NAND2X1"]
    assert energies.volts == 2.0
    assert [pin.pf for pin in gate.inputs.values()] == [0.01, 0.02]
    (output,) = gate.outputs.values()
    assert output.table == 0b0111
    assert list(output.loads) == [0.0, 0.1]
    # Between the slews 0.08 and 0.28 in the middle, and the mean of both inputs' tables.
    assert SLEW_NS == 0.18
    assert output.rise_pj == pytest.approx([(3.0 + 5.0) / 2, (13.0 + 5.0) / 2])
    assert output.fall_pj == pytest.approx([1.0, 1.0])
    assert gate.leakage_nw == 0.5


def test_a_flip_flop():
    cell = read_energies(LIBERTY).cells["DFFPOSX1"]
    assert (cell.clock, cell.data) == ("CLK", "D")
    assert cell.inputs["CLK"].rise_pj == pytest.approx(0.25)
    assert cell.inputs["CLK"].fall_pj == pytest.approx(0.5)
    assert cell.inputs["D"].rise_pj == 0.0


def test_cells_that_synthesis_does_not_use_are_left_out():
    assert read_energies(LIBERTY).cells.keys() == {"NAND2X1", "INVX2", "DFFPOSX1"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "pin(D) { direction : input;",
            "pin(QN) { direction : output; }\n  pin(D) { direction : input;",
        ),
        (
            "pin(D) { direction : input;",
            "pin(R) { direction : input; }\n  pin(D) { direction : input;",
        ),
        ('next_state : "D"', 'next_state : "E"'),
        ('clocked_on : "CLK"', 'clocked_on : "!CLK"'),
    ],
    ids=["two outputs", "reset", "what is no pin", "falling edge"],
)
def test_flip_flops_of_other_kinds_are_left_out(old: str, new: str):
    assert LIBERTY.count(old) == 1
    assert "DFFPOSX1" not in read_energies(LIBERTY.replace(old, new)).cells


@pytest.mark.parametrize("now", ["", 'three_state : "A"; function : "(!A)";'])
def test_gates_of_other_kinds_are_left_out(now: str):
    """One whose output has no function, and one that may leave its output to others."""
    old = 'function : "(!A)";'
    assert LIBERTY.count(old) == 1
    assert "INVX2" not in read_energies(LIBERTY.replace(old, now)).cells


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('time_unit : "1ns"', 'time_unit : "1ps"', "time_unit is '1ps'"),
        ("(1,pf)", "(1,ff)", "capacitive_load_unit"),
        ("internal_power()", "other_power()", "no internal power"),
    ],
)
def test_bad_libraries(old: str, new: str, problem: str):
    assert old in LIBERTY
    with pytest.raises(LibertyError, match=problem):
        read_energies(LIBERTY.replace(old, new))
