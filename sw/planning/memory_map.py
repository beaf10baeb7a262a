"""Where the rings of graphs stand in the local memories.

A scratchpad bank serves one access in a cycle.  Rows of A take one in every cycle, so their pieces
alternate between two banks, and whoever wants one of these waits for the other's turn.  Tiles of W
take as many as a load brings, so that they alternate, too.  For four banks of R rows (or as many
quarters):

    bank 0: weights, R/2; results of bytes, R/2
    bank 1: pieces of A, R/2; wide results, R/2
    bank 2: pieces of A, R/2; normalized results, R/2
    bank 3: weights, R/2; int16 operands, R/2

Heads of attention use the same banks in their own way:

    bank 0: keys, R
    bank 1: numerators and queries of every other part
    bank 2: those of the parts between
    bank 3: values, R/2; results, R/2

Where no product has more rows than the array, tiles of W set the pace: each is read while others
arrive, so that W has three banks.  All else is small, takes turns at the fourth one, and stays
there until somebody reads it (`FewRowsMap`).
"""

from collections.abc import Iterator
from itertools import count
from typing import Final, Literal

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.forms.plan import RingPlan

__all__ = ["RING_SHARES", "FewRowsMap", "MemoryMap", "SeveralRowsMap"]

RING_SHARES: Final = 3
"""Two pieces of up to so large a share of a ring stay in it together, wherever the first stands."""
_BANKS: Final = 4
_RING_PIECES: Final = 4
"""Pieces of weights that a ring has at least."""
_CHUNK_TILES: Final = 8
"""Int16 tiles of a block of rows that are worth a ring of their own."""
_RESULTS: Final = 2
"""Results of so many transforms fit into their ring at once."""
_SHARES: Final = 8
"""One transform may take one of so many shares of the parameter memory, for each kind."""
_FEW_ROWS: Final = {"bytes": 6, "wide": 3, "normalized": 3, "activations": 2, "words": 2}
"""Sixteenths of a bank."""
_FEW_ROWS_OF_HEADS: Final = {
    "numerators even": 1,
    "numerators odd": 1,
    "queries even": 1,
    "queries odd": 1,
    "keys": 2,
    "values": 2,
}
"""Sixty-fourths of a bank."""
_SEVERAL_ROWS: Final = {
    "bytes": (0, 8),
    "queries": (0, 2),
    "operands": (2, 6),
    "activations": (8, 4),
    "words": (12, 3),
}
"""First sixteenth of each of two banks, and their number."""


class MemoryMap:
    """The rings of an accelerator's memories, and the extents that they allow.

    Raises `ValueError` if the scratchpad is too small for them.
    """

    def __init__(self, config: AcceleratorConfig, choices: Choices):
        self.config = config
        self.choices = choices
        half = self.bank_rows // 2
        if half < RING_SHARES * config.dim:
            least = 2 * _BANKS * RING_SHARES * config.dim
            raise ValueError(
                f"scratchpad_kib: {config.scratchpad_kib} are {config.scratchpad_rows} rows, but "
                f"graphs need at least {2 * _BANKS * RING_SHARES}*dim = {least}"
            )
        self.rings = dict(self._rings())
        """All rings by name; those of heads are added."""

    def _rings(self) -> Iterator[tuple[str, RingPlan]]:
        config, half, first = self.config, self.bank_rows // 2, self.banks
        words = first[3] + half
        yield "weights", _scratchpad((first[0], half), (first[3], half))
        results = first[0] + half
        yield "activations", _scratchpad((first[1], half), (first[2], half))
        yield "wide", _scratchpad((first[1] + half, half))
        yield "normalized", _scratchpad((first[2] + half, half))
        yield "words", _scratchpad((words, half))
        if half >= 2 * _CHUNK_TILES * self.choices.block_tiles * config.dim:
            yield "bytes", _scratchpad((results, half // 2))
            yield "narrow", _scratchpad((results + half // 2, half // 2))
            yield "residuals", _scratchpad((words, half // 2))
            yield "added", _scratchpad((words + half // 2, half // 2))
        else:
            yield "bytes", _scratchpad((results, half))
        parameters = config.parameter_rows // 2
        yield "columns", RingPlan(space="parameters", spans=((0, parameters),))
        if config.normalization:
            yield "affines", RingPlan(space="parameters", spans=((parameters, parameters),))
        yield "halves", _halves("accumulator", self.accumulator_half)
        if config.normalization:
            yield "slots", _halves("statistics", self.slots, step=self.slots)

    @property
    def bank_rows(self) -> int:
        """Rows of a bank, or of a quarter of the scratchpad."""
        return self.config.scratchpad_rows // _BANKS

    @property
    def banks(self) -> tuple[int, ...]:
        """The first row of each bank."""
        return tuple(bank * self.bank_rows for bank in range(_BANKS))

    @property
    def accumulator_half(self) -> int:
        """Rows of half the accumulator."""
        return self.config.accumulator_rows // 2

    @property
    def slots(self) -> int:
        """Rows whose statistics half of all slots keep."""
        return self.config.statistics_rows // 2

    @property
    def residuals(self) -> str:
        """The ring of int16 that are added to sums; apart from `added` if both have room."""
        return "residuals" if "residuals" in self.rings else "words"

    @property
    def added(self) -> str:
        """The ring of int16 on the way to their normalization, between products."""
        return "added" if "added" in self.rings else "words"

    @staticmethod
    def results(element_bytes: int) -> str:
        """The ring where results of elements of this size go on their way to memory."""
        return "bytes" if element_bytes == 1 else "wide"

    @staticmethod
    def beside(residuals: str) -> str:
        """The ring of results that are added to what is in ring `residuals`."""
        del residuals
        return "wide"

    @property
    def narrow_norms(self) -> str:
        """The ring of results of normalizations of one byte; apart from `bytes` if both have room.

        Drains of what comes next pass normalizations, and would have to wait for their rows.
        """
        return "narrow" if "narrow" in self.rings else "bytes"

    nest_pieces: Literal[1, 2] = 2
    """Pieces of a nest along K."""

    stays = False
    """Results stay in their rings until somebody reads them."""

    contexts = ""
    """The ring of contexts on their way to memory; empty: they have one of their own."""

    streams_heads = False
    """Keys and values of heads stream past, as weights do, however few they are."""

    spills = True
    """Scores of long rows may wait in memory, which has time for them."""

    def head_spans(self, numerators: int) -> dict[str, tuple[int, int]]:
        """The rows of what a head uses, if the numerators of a part take so many, or more."""
        first, bank = self.banks, self.bank_rows
        return {
            "keys": (first[0], bank),
            "numerators even": (first[1], numerators),
            "queries even": (first[1] + numerators, bank - numerators),
            "numerators odd": (first[2], numerators),
            "queries odd": (first[2] + numerators, bank - numerators),
            "values": (first[3], bank // 2),
            "contexts out": (first[3] + bank // 2, bank // 2),
        }

    @property
    def numerator_rows(self) -> int:
        """Rows that the numerators of a part may take, whatever else there is."""
        return self.bank_rows

    def rows(self, ring: str) -> int:
        """Rows of the least span of a ring."""
        return self.rings[ring].least

    def add(self, name: str, ring: RingPlan) -> str:
        """The name of a ring that is just like this one: `name`, or one that begins with it."""
        for number in count(1):
            key = name if number == 1 else f"{name} {number}"
            if self.rings.setdefault(key, ring) == ring:
                return key
        raise AssertionError("numbers end")

    @property
    def piece_tiles(self) -> int:
        """Tiles along K of a piece."""
        config = self.config
        tile_rows = config.dim * config.max_blocks
        fit = self.rows("weights") // (_RING_PIECES * tile_rows)
        return max(1, min(self.choices.piece_tiles, config.max_blocks, fit))

    @property
    def key_tiles(self) -> int:
        """Tiles of keys in a piece that streams past, at most."""
        return self.piece_tiles

    def columns(self, ring_rows: int) -> int:
        """Tiles of columns that a load moves, and of which two pieces of W stay in a ring."""
        rows = RING_SHARES * self.piece_tiles * self.config.dim
        return max(1, min(self.config.max_blocks, ring_rows // rows))

    def drain_tiles(self, ring: str, row_bytes: int) -> int:
        """Tiles of columns of a transform: the results of two fit into their ring.

        The tiles of all rows of a block take `row_bytes` bytes side by side.
        """
        fit = self.rows(ring) // (_RESULTS * row_bytes)
        return max(1, min(fit, self.config.parameter_rows // _SHARES))

    @property
    def block_rows(self) -> int:
        """Rows that stream through a tile of weights, where there are as many.

        Their sums fit into half of the accumulator, their results into their rings, whatever the
        type, and two pieces of them stay in a ring of queries in half of a bank.
        """
        return min(
            self.choices.block_tiles * self.config.dim,
            self.accumulator_half,
            self.rows("wide") // ACC_BYTES,
            self.bank_rows // 2 // (RING_SHARES * self.piece_tiles),
        )


class FewRowsMap(MemoryMap):
    """The rings of graphs whose products have no more rows than the array.

    All but the weights are in the third bank.  Queries, and the operands of heads beside them, stay
    where other results of bytes are at other times; what else heads use is where int16 from memory
    are.
    """

    nest_pieces = 1
    stays = True
    spills = False

    def _rings(self) -> Iterator[tuple[str, RingPlan]]:
        spans = [(self.banks[bank], self.bank_rows) for bank in (0, 1, 3)]
        rings = {**dict(super()._rings()), "weights": _scratchpad(*spans)}
        for name in ("residuals", "added", "narrow"):
            rings.pop(name, None)
        share, first = self.bank_rows // 16, self.banks[2]
        for name, shares in _FEW_ROWS.items():
            rings[name] = _scratchpad((first, shares * share))
            first += shares * share
        first, _ = rings["bytes"].spans[0]
        rings["queries"] = _scratchpad((first, 2 * share))
        rings["operands"] = _scratchpad((first + 2 * share, 4 * share))
        yield from rings.items()

    @property
    def narrow_norms(self) -> str:
        """The ring of results of normalizations of one byte: that of pieces of A."""
        return "activations"

    def head_spans(self, numerators: int) -> dict[str, tuple[int, int]]:
        """The rows of what a head uses; results stay where wide ones are not needed yet."""
        share, spans = self.bank_rows // 64, {}
        ((first, _),) = self.rings["words"].spans
        for name, shares in _FEW_ROWS_OF_HEADS.items():
            spans[name] = first, shares * share
            first += shares * share
        (spans["contexts out"],) = self.rings["wide"].spans
        return spans


class SeveralRowsMap(MemoryMap):
    """The rings of graphs whose products have at most twice the rows of the array.

    Rows of A take an access in every cycle, and they are results that stay: so results of bytes
    alternate between two banks.  Those of two bytes, which no product reads, are beside weights.
    """

    spills = False
    stays = True

    @property
    def narrow_norms(self) -> str:
        """The ring of results of normalizations of one byte: that of pieces of A."""
        return "activations"

    def _rings(self) -> Iterator[tuple[str, RingPlan]]:
        rings = dict(super()._rings())
        for name in ("residuals", "added", "narrow"):
            rings.pop(name, None)
        share, (*_, last) = self.bank_rows // 16, self.banks
        weights = 10 * share
        rings["weights"] = _scratchpad((0, weights), (last, weights))
        rings["normalized"] = _scratchpad((weights, 6 * share))
        rings["wide"] = _scratchpad((last + weights, 6 * share))
        for name, (first, shares) in _SEVERAL_ROWS.items():
            spans = [(bank + first * share, shares * share) for bank in self.banks[1:3]]
            rings[name] = _scratchpad(*spans[:: -1 if name == "operands" else 1])
        yield from rings.items()

    def drain_tiles(self, ring: str, row_bytes: int) -> int:
        """Tiles of columns of a transform: few, so that pieces of the next product alternate."""
        return min(
            super().drain_tiles(ring, row_bytes), self.nest_pieces * self.choices.piece_tiles
        )

    contexts = "activations"

    def head_spans(self, numerators: int) -> dict[str, tuple[int, int]]:
        """The rows of what a head uses; what comes from memory is where int16 from there are."""
        share, (even, odd) = self.bank_rows // 16, self.banks[1:3]
        return {
            "numerators even": (even + 15 * share, share),
            "numerators odd": (odd + 15 * share, share),
            "queries even": (even + 12 * share, share),
            "queries odd": (odd + 12 * share, share),
            "keys": (odd + 13 * share, 2 * share),
            "values": (even + 13 * share, 2 * share),
        }


def _scratchpad(*spans: tuple[int, int]) -> RingPlan:
    return RingPlan(space="scratchpad", spans=spans)


def _halves(space: Literal["accumulator", "statistics"], rows: int, step: int = 1) -> RingPlan:
    """Two halves by turns: one is worked on while the other one is drained."""
    return RingPlan(space=space, spans=((0, rows), (rows, rows)), step=step)
