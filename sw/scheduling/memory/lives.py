"""Lives of tensors in memory, in stores of the program: when each one's bytes are its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import ALIGNMENT
from celosia.sw.ir.graph import Graph, Tensor
from celosia.sw.ir.program import Op
from celosia.sw.scheduling.memory.order import Access, before, loads_over, stored_and_loaded

__all__ = ["Life", "largest_live_sum", "lives"]


@dataclass(frozen=True, kw_only=True)
class Life:
    """The stores of a program for whose time a tensor needs its bytes, or may still be read."""

    name: str
    size: int
    """Bytes, with those up to the next aligned address."""
    begin: int
    """The number of its first store; 0: it is there before the program begins."""
    end: int
    """The first store that hardware starts only when nobody reads or writes the tensor any more;
    one behind the last store of the program: there is none."""

    def meets(self, other: "Life") -> bool:
        """Whether both need bytes of their own."""
        return self.begin < other.end and other.begin < self.end


def lives(
    ops: Sequence[Op], graph: Graph, tensors: Sequence[Tensor], config: AcceleratorConfig
) -> Iterator[Life]:
    """The life of each of the `tensors` that is neither a constant, a cache nor an output.

    Those live for ever.
    """
    over = loads_over(ops, before(ops, config, graph.moving))
    accesses = _by_tensor(ops)
    for tensor in tensors:
        if not _stays(tensor, graph):
            mine = accesses.get(tensor.name, [])
            stores = [access.number for access in mine if access.stores]
            read = max((access.number for access in mine if not access.stores), default=0)
            end = max(stores, default=0) + 1
            while end <= len(over) and over[end - 1] < read:
                end += 1
            begin = min(stores, default=0)
            yield Life(name=tensor.name, size=_aligned(tensor), begin=begin, end=end)


def largest_live_sum(ops: Sequence[Op], graph: Graph, tensors: Sequence[Tensor]) -> int:
    """The most bytes of tensors with a life that are ever between first and last access.

    The order is that of the program, as if one operation came after the other: no reuse of whole
    tensors takes less.
    """
    ends: list[tuple[int, int]] = []
    accesses = _by_tensor(ops)
    for tensor in tensors:
        if not _stays(tensor, graph) and (mine := accesses.get(tensor.name)):
            first = 0 if tensor.name in graph.inputs else mine[0].index
            ends += [(first, _aligned(tensor)), (mine[-1].index + 1, -_aligned(tensor))]
    live = most = 0
    for _, change in sorted(ends):  # What ends at a place goes before what begins there.
        live += change
        most = max(most, live)
    return most


def _by_tensor(ops: Sequence[Op]) -> Mapping[str, list[Access]]:
    """The accesses to each tensor, in order."""
    found: dict[str, list[Access]] = {}
    for access in stored_and_loaded(ops):
        found.setdefault(access.view.tensor, []).append(access)
    return found


def _stays(tensor: Tensor, graph: Graph) -> bool:
    """Whether somebody wants the tensor after the program, or in its next run."""
    return bool(tensor.cache) or tensor.name in graph.constants or tensor.name in graph.outputs


def _aligned(tensor: Tensor) -> int:
    return -(-tensor.bytes // ALIGNMENT) * ALIGNMENT
