"""Where the rings of graphs with caches stand, if no product has more rows than the array.

Keys and values from a cache are as many as the context is long, and each is read once: so they
stream past as weights do, through the same three banks.  In the third bank, numerators of long
rows have room.  The stream of residuals, which decoders never normalize in place, has two rings by
turns: what is added to it goes to the other one.
"""

from collections.abc import Iterator
from typing import Final

from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.memory_map import FewRowsMap

__all__ = ["CachedMap"]

_NUMERATORS: Final = 2
"""Sixteenths of a bank for the numerators of a part."""


class CachedMap(FewRowsMap):
    """The rings of graphs with caches whose products have no more rows than the array."""

    streams_heads = True

    def _rings(self) -> Iterator[tuple[str, RingPlan]]:
        for name, ring in super()._rings():
            if name != "operands":
                yield name, ring

    @staticmethod
    def beside(residuals: str) -> str:
        """The ring of results that are added to what is in ring `residuals`."""
        return "normalized" if residuals == "wide" else "wide"

    @property
    def numerator_rows(self) -> int:
        """Rows that the numerators of a part may take."""
        return _NUMERATORS * self.bank_rows // 16

    def head_spans(self, numerators: int) -> dict[str, tuple[int, int]]:
        """The rows of what a head uses; numerators stand where results of bytes are later."""
        ((queries, rows),) = self.rings["queries"].spans
        ((words, more),) = self.rings["words"].spans
        first = queries + rows
        return {
            "numerators even": (first, self.numerator_rows),
            "numerators odd": (first + self.numerator_rows, self.numerator_rows),
            "queries even": (words, more // 2),
            "queries odd": (words + more // 2, more // 2),
            "contexts out": self.rings["activations"].spans[0],
        }
