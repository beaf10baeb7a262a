"""What the writes of local memories carry."""

from typing import Any

import pytest
from amaranth.hdl import Shape
from amaranth.lib import data

from celosia.hw.memory.ports import AccumulatorWrite, ParameterWrite, ScratchpadWrite, row_shape
from celosia.isa.config import AcceleratorConfig

CONFIGS = [
    AcceleratorConfig(dim=4, scratchpad_kib=1, accumulator_kib=1),
    AcceleratorConfig(dim=16, scratchpad_kib=64, accumulator_kib=16),
]


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: f"dim{config.dim}")
@pytest.mark.parametrize(
    ("write", "rows", "element", "accumulates"),
    [
        (ScratchpadWrite, "scratchpad_rows", (8, False), False),
        (AccumulatorWrite, "accumulator_rows", (32, True), True),
        (ParameterWrite, "parameter_rows", (32, True), False),
    ],
)
def test_a_write_has_a_row_of_elements_a_mask_and_a_place(
    config, write, rows, element, accumulates
):
    """Elements from bit 0 on; each last row, and no more, can be named."""
    layout: Any = write(config)
    elements = layout.members["data"]
    assert isinstance(elements, data.ArrayLayout)
    element_shape = Shape.cast(elements.elem_shape)
    assert elements.length == config.dim
    assert (element_shape.width, element_shape.signed) == element
    assert layout["data"].offset == 0
    last = getattr(config, rows) - 1
    assert layout.const({"row": last}).row == last
    assert layout["row"].width == last.bit_length()
    assert layout["mask"].width == config.dim
    assert ("accumulate" in layout.members) == accumulates


@pytest.mark.parametrize(("rows", "bits"), [(1, 0), (2, 1), (3, 2), (64, 6), (65, 7)])
def test_numbers_of_rows_have_no_bit_too_many(rows, bits):
    assert row_shape(rows).width == bits
