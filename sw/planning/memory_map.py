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
there until somebody reads it (`FEW_ROWS`).  Where products have up to twice the rows of the array,
or more and staying was chosen (`SEVERAL_ROWS`), rows of A take an access in every cycle, and they
are results that stay: so results of bytes alternate between two banks.  Those of two bytes, which
no product reads, are beside weights.

Keys and values from a cache are as many as the context is long, and each is read once: so they
stream past as weights do, through the same three banks (`CACHED`).  In the fourth bank, numerators
of long rows have room.  The stream of residuals, which decoders never normalize in place, has two
rings by turns: what is added to it goes to the other one.  Where the streams of several rows do not
fit there, these and int16 from memory have a part of each bank of weights (`SEVERAL_TEXTS`):
products never read them, and the fourth bank is for what they read.  As rows of A take an access of
it in every cycle, no results get there meanwhile: so pieces of normalized rows, which products read
while the next ones are written, alternate with it, and weights that meet these have the two banks
that are left.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Final, Literal

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.sw.planning.choices import Choices
from celosia.sw.planning.extents import side_by_side
from celosia.sw.planning.forms.plan import RingPlan
from celosia.sw.planning.rules.common import SHARES

__all__ = [
    "CACHED",
    "FEW_ROWS",
    "REGULAR",
    "SEVERAL_ROWS",
    "SEVERAL_TEXTS",
    "Layout",
    "MemoryMap",
]

_BANKS: Final = 4
_RING_PIECES: Final = 4
"""Pieces of weights that a ring has at least."""
_MORE_KEYS: Final = 2
"""Tiles of keys that a piece may have more than others of weights."""
_CHUNK_TILES: Final = 8
"""Int16 tiles of a block of rows that are worth a ring of their own."""
_TRANSFORMS: Final = 2
"""What so many transforms take or leave fits into its ring at once."""
_PARAMETER_SHARES: Final = 8
"""One transform may take one of so many shares of the parameter memory, for each kind."""
_PARTS: Final = 64

Part = tuple[int, int, int]
"""A bank, and of its rows in sixty-fourths: the first one, and how many."""


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where everything stands in the scratchpad, and what follows from that."""

    rings: Mapping[str, tuple[Part, ...]]
    read_by_heads: Mapping[str, tuple[Part, ...]] = field(default_factory=dict)
    """The rings of results that heads of attention read."""
    heads: Mapping[str, Part] = field(default_factory=dict)
    """What heads use beside their rings; none: as the figure says, by the rows of numerators."""
    nest_pieces: Literal[1, 2] = 2
    """Pieces of a nest along K."""
    stays: bool = False
    """Results stay in their rings until somebody reads them; there is no time for scores to wait in
    memory then."""
    streams_heads: bool = False
    """Keys and values of heads stream past, as weights do, however few they are."""
    short_drains: bool = False
    """Few columns leave together, so that pieces of the next product alternate."""
    alike: bool = False
    """All pieces of weights take as many rows, for those of texts of different lengths are not
    alike: so the one that comes next finds its place free first."""


REGULAR: Final = Layout(
    rings={
        "weights": ((0, 0, 32), (3, 0, 32)),
        "activations": ((1, 0, 32), (2, 0, 32)),
        "wide": ((1, 32, 32),),
        "normalized": ((2, 32, 32),),
        "words": ((3, 32, 32),),
        "bytes": ((0, 32, 32),),
    }
)
_ROOMY: Final = Layout(
    rings={
        **REGULAR.rings,
        "bytes": ((0, 32, 16),),
        "narrow": ((0, 48, 16),),
        "residuals": ((3, 32, 16),),
        "added": ((3, 48, 16),),
    }
)
"""The same where chunks of blocks have room: what waits for different things is apart."""
FEW_ROWS: Final = Layout(
    rings={
        "weights": ((0, 0, 64), (1, 0, 64), (3, 0, 64)),
        "activations": ((2, 48, 8),),
        "wide": ((2, 24, 12),),
        "normalized": ((2, 36, 12),),
        "words": ((2, 56, 8),),
        "bytes": ((2, 0, 24),),
    },
    read_by_heads={"queries": ((2, 0, 8),), "operands": ((2, 8, 16),)},
    heads={
        "numerators even": (2, 56, 1),
        "numerators odd": (2, 57, 1),
        "queries even": (2, 58, 1),
        "queries odd": (2, 59, 1),
        "keys": (2, 60, 2),
        "values": (2, 62, 2),
        "contexts out": (2, 24, 12),
    },
    nest_pieces=1,
    stays=True,
)
SEVERAL_ROWS: Final = Layout(
    rings={
        "weights": ((0, 0, 40), (3, 0, 40)),
        "activations": ((1, 32, 16), (2, 32, 16)),
        "wide": ((3, 40, 24),),
        "normalized": ((0, 40, 24),),
        "words": ((1, 48, 12), (2, 48, 12)),
        "bytes": ((1, 0, 32), (2, 0, 32)),
    },
    read_by_heads={"queries": ((1, 0, 8), (2, 0, 8)), "operands": ((2, 8, 24), (1, 8, 24))},
    heads={
        "numerators even": (1, 60, 4),
        "numerators odd": (2, 60, 4),
        "queries even": (1, 48, 4),
        "queries odd": (2, 48, 4),
        "keys": (2, 52, 8),
        "values": (1, 52, 8),
    },
    stays=True,
    short_drains=True,
)
CACHED: Final = replace(
    FEW_ROWS,
    read_by_heads={"queries": ((2, 0, 8),)},
    heads={
        "numerators even": (2, 8, 8),
        "numerators odd": (2, 16, 8),
        "queries even": (2, 56, 4),
        "queries odd": (2, 60, 4),
        "contexts out": (2, 48, 8),
    },
    streams_heads=True,
)
SEVERAL_TEXTS: Final = replace(
    CACHED,
    rings={
        "weights": ((0, 0, 32), (1, 0, 32), (3, 0, 32)),
        "weights in two": ((0, 0, 32), (1, 0, 32)),
        "activations": ((2, 56, 8),),
        "narrow": ((3, 32, 8), (2, 48, 8)),
        "wide": ((0, 40, 24),),
        "normalized": ((1, 40, 24),),
        "words": ((3, 40, 24),),
        "bytes": ((2, 0, 48),),
    },
    read_by_heads={"queries": ((2, 0, 16),)},
    heads={
        "numerators even": (2, 16, 8),
        "numerators odd": (2, 24, 8),
        "queries even": (3, 40, 12),
        "queries odd": (3, 52, 12),
        "contexts out": (2, 32, 32),
    },
    alike=True,
)


class MemoryMap:
    """The rings of an accelerator's memories, and the extents that they allow.

    Raises `ValueError` if the scratchpad is too small for them.
    """

    def __init__(self, config: AcceleratorConfig, choices: Choices, layout: Layout = REGULAR):
        self.config, self.choices, self.layout = config, choices, layout
        self.bank_rows = config.scratchpad_rows // _BANKS
        """Rows of a bank, or of a quarter of the scratchpad."""
        self.accumulator_half = config.accumulator_rows // 2
        """Rows of half the accumulator."""
        self.slots = config.statistics_rows // 2
        """Rows whose statistics half of all slots keep."""
        half = self.bank_rows // 2
        if half < SHARES * config.dim:
            least = 2 * _BANKS * SHARES * config.dim
            raise ValueError(
                f"scratchpad_kib: {config.scratchpad_kib} are {config.scratchpad_rows} rows, but "
                f"graphs need at least {2 * _BANKS * SHARES}*dim = {least}"
            )
        if layout is REGULAR and half >= 2 * _CHUNK_TILES * choices.block_tiles * config.dim:
            self.layout = _ROOMY
        self.rings = dict(self._rings())
        """All rings by name; those of heads are added."""
        self.residuals = "residuals" if "residuals" in self.rings else "words"
        """The ring of int16 that are added to sums; apart from `added` if both have room."""
        self.added = "added" if "added" in self.rings else "words"
        """The ring of int16 on the way to their normalization, between products."""
        if self.layout.alike:
            rows = self.key_tiles * self.columns(self.rings["weights"].least) * config.dim
            self.rings |= {
                name: replace(self.rings[name], step=rows)
                for name in layout.rings
                if name.startswith("weights")
            }

    def _rings(self) -> Iterator[tuple[str, RingPlan]]:
        config, layout = self.config, self.layout
        for name, parts in layout.rings.items():
            yield name, self._scratchpad(*parts)
        parameters = config.parameter_rows // 2
        yield "columns", RingPlan(space="parameters", spans=((0, parameters),))
        if config.normalization:
            yield "affines", RingPlan(space="parameters", spans=((parameters, parameters),))
        # One half is worked on while the other one is drained.
        halves, slots = (side_by_side(0, rows, 2) for rows in (self.accumulator_half, self.slots))
        yield "halves", RingPlan(space="accumulator", spans=halves)
        if config.normalization:
            yield "slots", RingPlan(space="statistics", spans=slots, step=self.slots)
        for name, parts in layout.read_by_heads.items():
            yield name, self._scratchpad(*parts)

    def _scratchpad(self, *parts: Part) -> RingPlan:
        return RingPlan(space="scratchpad", spans=tuple(map(self._span, parts)))

    def _span(self, part: Part) -> tuple[int, int]:
        """First row and number of rows of a part of a bank."""
        bank, first, count = part
        rows = self.bank_rows
        return bank * rows + first * rows // _PARTS, count * rows // _PARTS

    @staticmethod
    def results(element_bytes: int) -> str:
        """The ring where results of elements of this size go on their way to memory."""
        return "bytes" if element_bytes == 1 else "wide"

    def beside(self, residuals: str) -> str:
        """The ring of results that are added to what is in ring `residuals`."""
        return "normalized" if self.layout.streams_heads and residuals == "wide" else "wide"

    @property
    def narrow_norms(self) -> str:
        """The ring of results of normalizations of one byte; apart from `bytes` if both have room.

        Drains of what comes next pass normalizations, and would have to wait for their rows.  Where
        results stay, it is that of pieces of A.
        """
        if "narrow" in self.rings:
            return "narrow"
        return "activations" if self.layout.stays else "bytes"

    def weights(self, a: str) -> str:
        """The ring of weights that meet rows of A in ring `a`: in as few of its banks as can be."""
        apart = a == "narrow" and "weights in two" in self.rings
        return "weights in two" if apart else "weights"

    def head_spans(self, numerators: int) -> dict[str, tuple[int, int]]:
        """The rows of what a head uses, if the numerators of a part take so many, or more."""
        if self.layout.heads:
            return {name: self._span(part) for name, part in self.layout.heads.items()}
        bank = self.bank_rows
        first = range(0, _BANKS * bank, bank)
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
        if self.layout.streams_heads:
            return self._span(self.layout.heads["numerators even"])[1]
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
        return self.piece_tiles + _MORE_KEYS

    def columns(self, ring_rows: int) -> int:
        """Tiles of columns that a load moves, and of which two pieces of W stay in a ring."""
        rows = SHARES * self.piece_tiles * self.config.dim
        return max(1, min(self.config.max_blocks, ring_rows // rows))

    def at_once(self, ring: str, rows: int) -> int:
        """Tiles of columns, of so many rows each, that two transforms have room for in a ring."""
        return self.rows(ring) // (_TRANSFORMS * rows)

    def drain_tiles(self, ring: str, row_bytes: int) -> int:
        """Tiles of columns of a transform: the results of two fit into their ring.

        The tiles of all rows of a block take `row_bytes` bytes side by side.
        """
        most = max(
            1, min(self.at_once(ring, row_bytes), self.config.parameter_rows // _PARAMETER_SHARES)
        )
        short = self.layout.short_drains
        return min(most, self.layout.nest_pieces * self.choices.piece_tiles) if short else most

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
            self.bank_rows // 2 // (SHARES * self.piece_tiles),
        )
