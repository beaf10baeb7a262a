"""Where the rings of graphs with caches stand, if no product has more rows than the array.

Keys and values from a cache are as many as the context is long, and each is read once: so they
stream past as weights do, through the same three banks.  In the third bank, numerators of long
rows have room.  The stream of residuals, which decoders never normalize in place, has two rings by
turns: what is added to it goes to the other one.

Where the streams of several rows do not fit there, these and int16 from memory have a part of each
bank of weights: products never read them, and the third bank is for what they read
(`SeveralTextsMap`).
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.memory_map import FewRowsMap

__all__ = ["CachedMap", "SeveralTextsMap"]

_NUMERATORS: Final = 2
"""Sixteenths of a bank for the numerators of a part."""


_MORE: Final = 2
"""Tiles of keys that a piece may have more than others of weights."""
_WIDE: Final = 6
"""Sixteenths of a bank of weights for a stream of several rows."""
_BYTES: Final = {"queries": (0, 4), "bytes": (0, 8), "activations": (8, 8)}
"""Sixteenths of the third bank where several rows are: the first one, and how many."""


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
    def key_tiles(self) -> int:
        """Tiles of keys in a piece that streams past, at most."""
        return self.piece_tiles + _MORE

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


class SeveralTextsMap(CachedMap):
    """The same with room for the streams of several rows.

    All pieces of weights take as many rows, for those of texts of different lengths are not alike:
    so the one that comes next finds its place free first.
    """

    def _rings(self) -> Iterator[tuple[str, RingPlan]]:
        self.rings = dict(super()._rings())
        share, banks, wide = self.bank_rows // 16, self.banks, _WIDE * self.bank_rows // 16
        spans = [(banks[bank], self.bank_rows - wide) for bank in (0, 1, 3)]
        step = self.key_tiles * self.columns(self.bank_rows - wide) * self.config.dim
        self._move("weights", *spans, step=step)
        for (first, rows), name in zip(spans, ("wide", "normalized", "words"), strict=True):
            self._move(name, (first + rows, wide))
        for name, (start, count) in _BYTES.items():
            self._move(name, (banks[2] + start * share, count * share))
        yield from self.rings.items()

    def _move(self, name: str, *spans: tuple[int, int], step: int = 1) -> None:
        self.rings[name] = replace(self.rings[name], spans=spans, step=step)
