"""The types of elements that a TRANSFORM reads and writes."""

from enum import IntEnum
from typing import Any, Final

import numpy as np

__all__ = ["DTYPES", "ELEMENT_BYTES", "ElementType"]


class ElementType(IntEnum):
    """The type of the elements that a TRANSFORM writes."""

    INT8 = 0
    UINT8 = 1
    INT16 = 2
    INT32 = 3


DTYPES: Final[dict[ElementType, np.dtype[Any]]] = {
    kind: np.dtype(kind.name.lower()).newbyteorder("<") for kind in ElementType
}
"""The elements as they stand in memories."""

ELEMENT_BYTES: Final = {kind: dtype.itemsize for kind, dtype in DTYPES.items()}
