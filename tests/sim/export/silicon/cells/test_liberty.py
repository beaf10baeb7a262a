"""Areas and flip-flops are read off Liberty files, and unusable ones are refused."""

import pytest

from celosia.sim.export.silicon.cells.liberty import (
    Cell,
    LibertyError,
    gate_equivalent,
    read_cells,
)

GOOD = """
library(demo) { /* cell(hidden) { area : 1; } */
  cell(NAND2X2) { area : 4.5; pin(Y) { direction : output; function : "!(A B)"; } }
  cell ("NAND2X1") {
    area : 3; // cell(too) {
    pin(A) { timing() { x : 1; } }
  }
  cell(nand2b_1) { area : 1; }
  cell(DFF) { ff(IQ, IQN) { clocked_on : "C"; } area : 2.0e1; }
  cell(FILL) { }
}
"""


def test_cells():
    assert read_cells(GOOD) == {
        "NAND2X2": Cell(4.5, False),
        "NAND2X1": Cell(3.0, False),
        "nand2b_1": Cell(1.0, False),
        "DFF": Cell(20.0, True),
    }


def test_a_gate_equivalent_is_the_smallest_nand():
    assert gate_equivalent(read_cells(GOOD)) == 3.0
    with pytest.raises(LibertyError, match="no cell NAND2"):
        gate_equivalent({"nand2b_1": Cell(1.0, False)})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("module top; endmodule", "no cells"),
        ("library(x) { cell(A) { } cell(B) { area : 0; } }", "none of its 2 cells has an area: A"),
        ("library(x) { cell(A) { area : 1; } }", "no flip-flop"),
        ("library(x) { cell(A) { area : 1; ", "brace of cell A is not closed"),
    ],
)
def test_unusable_files(text, problem):
    with pytest.raises(LibertyError, match=problem):
        read_cells(text)
