"""The types of elements: each has the size that its name says."""

import numpy as np

from celosia.isa.functions.types import DTYPES, ELEMENT_BYTES, ElementType


def test_types_are_those_of_their_names():
    assert {
        ElementType.INT8: np.dtype(np.int8),
        ElementType.UINT8: np.dtype(np.uint8),
        ElementType.INT16: np.dtype("<i2"),
        ElementType.INT32: np.dtype("<i4"),
    } == DTYPES
    assert [ELEMENT_BYTES[kind] for kind in ElementType] == [1, 1, 2, 4]
