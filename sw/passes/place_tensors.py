"""The tensors of a graph to addresses in device memory."""

from collections.abc import Iterable

from celosia.isa.memory import ALIGNMENT
from celosia.sw.ir.graph import Tensor

__all__ = ["place_tensors"]


def place_tensors(tensors: Iterable[Tensor], base: int) -> tuple[dict[str, int], int]:
    """An address for each of `tensors`, one behind the other from `base` on, and their end.

    Each is dense and row-major.
    """
    addresses = {}
    for tensor in tensors:
        addresses[tensor.name] = base
        base += -(-tensor.bytes // ALIGNMENT) * ALIGNMENT
    return addresses, base
