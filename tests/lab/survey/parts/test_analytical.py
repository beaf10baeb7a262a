"""The analytical model on sizes where it can be done by hand."""

import pytest

from celosia.lab.survey.parts.analytical import Cost, Machine
from celosia.lab.survey.parts.operators import Elementwise, Product
from celosia.lab.survey.parts.paper import paper

MACHINE = Machine.of(paper().tables["machine"])


def product(**more):
    sizes = {"rows": 2048, "cols": 1025, "depth": 64, "bias": False, "wide": False}
    return Product(name="product", group="FFN", **{**sizes, **more})


def test_tiles_are_squares_that_fit():
    assert MACHINE.l2_tile == 1024
    assert MACHINE.local_tile == 128


def test_an_operand_comes_again_for_each_tile_of_the_other():
    moved = 2048 * 64 * 2 + 64 * 1025 * 2
    assert MACHINE.dram_bytes(product()) == moved + 2048 * 1025
    assert MACHINE.dram_bytes(product(wide=True, bias=True)) == moved + 2048 * 1025 * 5
    assert MACHINE.dram_bytes(product(count=3)) == 3 * (moved + 2048 * 1025)


def test_sums_are_read_in_four_bytes():
    softmax = Elementwise(name="softmax", size=160, parameters=7)
    assert MACHINE.dram_bytes(softmax) == 160 * 5 + 7
    assert MACHINE.cost(softmax).compute == 3 * 10
    residual = Elementwise(name="residual", size=160, inputs=2, wide=False)
    assert MACHINE.dram_bytes(residual) == 160 * 3


def test_a_few_rows_cost_as_much_as_the_array_is_deep():
    assert MACHINE.cost(product(rows=1)).compute == 4 * 65 * 16
    assert MACHINE.cost(product()).compute == 4 * 65 * 2048


@pytest.mark.parametrize(("cost", "cycles"), [((9, 2, 3), 9), ((1, 2, 3), 3), ((1, 5, 3), 5)])
def test_the_slowest_counts_unless_l2_is_filled_first(cost, cycles):
    assert Cost(*cost).cycles == cycles
    assert Cost(*cost).serial_cycles == cost[1] + max(cost[0], cost[2])
