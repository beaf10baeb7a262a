"""What became of the bytes of tensors that share some."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from celosia.isa.documents.record import As, Hidden, Named

__all__ = ["MemoryPlan"]


def _names(tensors: frozenset[str]) -> list[str]:
    return sorted(tensors)


@dataclass(frozen=True, kw_only=True)
class MemoryPlan:
    """Where tensors are in memory, and how close that is to what is needed."""

    addresses: Hidden[Mapping[str, int]]
    end: Hidden[int]
    """The first address behind all tensors."""
    fixed: Annotated[int, Named("fixed_bytes")]
    """Bytes of constants, caches and outputs, which are never used again."""
    dense: Annotated[int, Named("apart_bytes")]
    """Bytes that all other tensors would take one behind the other."""
    peak: Annotated[int, Named("peak_bytes")]
    """Bytes that these take."""
    live_sum: Annotated[int, Named("live_bytes")]
    """The most bytes between first and last access, if one operation came after the other."""
    gone: Annotated[frozenset[str], Named("overwritten"), As(_names)]
    """Tensors whose bytes belong to others when the program ends, and so are not compared."""
