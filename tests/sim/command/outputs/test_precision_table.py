"""What products multiply, as a table, and the sentence about it: from choices that are made up."""

import pytest

from celosia.sim.command.outputs.precision_table import precision_table
from celosia.sim.workloads.models.precision import PrecisionChoice, ProductPrecision, Reached
from celosia.sw.quantize.precision import Numbers

EIGHT, CHOSEN = Reached(30.04, 12_000), Reached(29.5, 9_000)


def cells(choice):
    table = precision_table(choice)
    return [column.head for column in table.columns], [row.cells for row in table.rows]


@pytest.mark.parametrize(
    ("tried", "saved", "shown", "heads"),
    [
        (Numbers.INT4, 1500, "1,500", ["int4 alone", "cycles saved", "weights"]),
        (Numbers.INT16, -1500, "1,500", ["int16 alone", "cycles more", "operand"]),
    ],
)
def test_a_line_has_the_sizes_of_a_product_and_what_other_numbers_do(tried, saved, shown, heads):
    products = (
        ProductPrecision("up", 1024, 4096, tried, 31.26, saved),
        ProductPrecision("down", 4096, 1024, Numbers.INT8, None, 0),
    )
    choice = PrecisionChoice(products, EIGHT, CHOSEN, "--precision auto", tried)
    assert precision_table(choice).caption == (
        "all int8: 30.0 dB, 12,000 predicted cycles; chosen: 29.5 dB, 9,000"
    )
    found, rows = cells(choice)
    assert found == ["product", "inputs", "outputs", *heads]
    assert rows == [
        ("up", "1,024", "4,096", "31.3 dB", shown, tried.name.lower()),
        ("down", "4,096", "1,024", "", "0", "int8"),
    ]


def test_the_sentence_counts_products_and_weights():
    """1,000 of 4,000 weights are in int4, and 2,000 have an operand of int16."""
    products = (
        ProductPrecision("a", 10, 100, Numbers.INT4, None, 0),
        ProductPrecision("b", 20, 100, Numbers.INT16, None, 0),
        ProductPrecision("c", 10, 100, Numbers.INT8, None, 0),
    )
    reached = (
        "29.5 dB on calibration data, 30.0 with int8; 9,000 predicted cycles, 12,000 with int8"
    )
    assert PrecisionChoice(products, EIGHT, CHOSEN, "x").note == (
        "1 of 3 products have int4 weights, 25% of all and 1 of 3 products have int16 operands, "
        f"50% of all weights, by x: {reached}"
    )
    assert PrecisionChoice(products[2:], EIGHT, CHOSEN, "x").note == (
        f"0 of 1 products have int4 weights, 0% of all, by x: {reached}"
    )
