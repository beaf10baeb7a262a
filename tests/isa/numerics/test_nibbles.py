"""Pairs of int4 in bytes."""

import numpy as np
import pytest

from celosia.isa.numerics.nibbles import pack_int4, unpack_int4


def test_line_i_is_below_line_i_and_a_half():
    lines = [[0, 1], [2, 3], [-8, 7], [-1, -2]]
    packed = pack_int4(lines)
    assert packed.dtype == np.int8
    assert packed.view(np.uint8).tolist() == [[0x80, 0x71], [0xF2, 0xE3]]


def test_unpacking_is_the_inverse_for_every_byte():
    rows = np.arange(256, dtype=np.uint8).view(np.int8).reshape(2, 8, 16)
    lines = unpack_int4(rows)
    assert lines.shape == (2, 16, 16)
    assert lines.min() == -8
    assert lines.max() == 7
    assert (pack_int4(lines) == rows).all()


@pytest.mark.parametrize("value", [-9, 8, 200])
def test_a_value_that_is_none_is_named(value):
    with pytest.raises(ValueError, match=rf"^{value} is no int4: values are -8 to 7$"):
        pack_int4([[0], [value]])


def test_an_odd_number_of_lines_is_named():
    with pytest.raises(ValueError, match=r"^3 lines of int4: they are packed in pairs"):
        pack_int4(np.zeros((3, 4), int))
