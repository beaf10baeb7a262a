"""The table of functions says what each one reads, makes and remembers."""

import pytest

from celosia.isa.documents.functions import function_section

ROWS = {
    cells[1]: cells[2:5]
    for line in function_section().splitlines()
    if (cells := [cell.strip() for cell in line.strip("|").split("|")])[0].isdigit()
}


@pytest.mark.parametrize(
    ("function", "source", "results", "statistics"),
    [
        ("requantize", "int32", "int8, uint8, int16, int32", "none"),
        ("maximum", "int32", "none", "maximum"),
        ("exponent", "int32 or int16", "uint8", "maximum, sum"),
        ("dithered_exponent", "int32 or int16", "uint8", "maximum, sum"),
        ("sum", "int32", "none", "maximum, sum"),
        ("probability", "int32", "int8, uint8, int16", "maximum, reciprocal"),
        ("context", "int32", "int8, uint8, int16", "reciprocal"),
        ("gelu", "int32", "int8, uint8, int16", "none"),
        ("residual", "int32 or int16, int16", "int16", "moments if asked"),
        ("moments", "int16", "none", "moments"),
        ("layernorm", "int16", "int8, int16", "mean and reciprocal"),
        ("multiply", "int16, int16", "int8, uint8, int16", "none"),
        ("rotate", "int16, int16", "int8, uint8, int16", "none"),
    ],
)
def test_a_row_says_what_a_function_reads_makes_and_remembers(
    function, source, results, statistics
):
    assert ROWS[function] == [source, results, statistics]
