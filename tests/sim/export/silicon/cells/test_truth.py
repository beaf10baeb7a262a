"""Functions as tables: bit i is the value where the inputs make i."""

import pytest

from celosia.sim.export.silicon.cells.liberty import LibertyError
from celosia.sim.export.silicon.cells.truth import truth_table


@pytest.mark.parametrize(
    ("function", "table"),
    [
        ("(!(A B))", 0b0111),
        ("(A * B)", 0b1000),
        ("A+B", 0b1110),
        ("A | B'", 0b1011),
        ("A^B", 0b0110),
        ("(!A !B)", 0b0001),
        ("!(A + (A B))", 0b0101),
        ("1", 0b1111),
        ("A & !1", 0),
    ],
)
def test_functions(function: str, table: int):
    assert truth_table(function, ["A", "B"]) == table


@pytest.mark.parametrize(
    ("function", "problem"),
    [("(A", "lacks a parenthesis"), ("C", "'C', which is no input"), ("A)", "not read from '\\)'"),
     ("A ? B", "signs that are not known"), ("", "has ''")],
)  # fmt: skip
def test_bad_functions(function: str, problem: str):
    with pytest.raises(LibertyError, match=problem):
        truth_table(function, ["A", "B"])
