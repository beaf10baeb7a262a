"""LOOP_WS: the commands of a product of tiles, as Gemmini's loop unit makes them.

A tile is ``dim`` x ``dim``.  Tiles of A stand in one half of the scratchpad from its beginning on,
those of B up to the end of a half, those of C and D in a half of the accumulator; each matrix row
by row of tiles.  A loop has three parts:

- loads of D, A and B, in this order; a command moves as many tiles of a row as it can;
- products: for each tile of k, for each column of tiles of C, for each of its tiles;
- stores of C, as loads; or LayerNorm or softmax of its rows (`PASSES`).

The second and third part wait for the command behind LOOP_WS.  If that begins another loop, which
loads nothing that stands in the way (`_Run.beside`), its loads come between these products, one
behind the first of each `spacing`; and what is left of them behind the last product.

A residual has A and B of the size of C, which are loaded to its place, B is added, and there are
no products.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from celosia.isa.address import ACCUMULATE_BIT, ACCUMULATOR_BIT, FULL_BIT, GARBAGE, NORM_LOW
from celosia.isa.bert import STATISTICS, Activation, NormCommand
from celosia.isa.config import ACC_BYTES, MAX_REQUEST_BYTES, AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_BERT,
    MVIN,
    MVIN2,
    MVIN3,
    MVOUT,
    PRELOAD,
    Command,
    Instruction,
)
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS

__all__ = ["PASSES", "LoopWs", "spacing"]

PASSES: Final[Mapping[int, tuple[tuple[NormCommand, NormCommand], ...]]] = {
    Activation.LAYERNORM: (
        (NormCommand.SUM, NormCommand.MEAN),
        (NormCommand.VARIANCE, NormCommand.INV_STDDEV),
        (NormCommand.RESET, NormCommand.RESET),
    ),
    Activation.SOFTMAX: (
        (NormCommand.MAX, NormCommand.MAX),
        (NormCommand.SUM_EXP, NormCommand.INV_SUM_EXP),
        (NormCommand.RESET, NormCommand.RESET),
    ),
}
"""Norm commands of the passes over a row: of all its tiles but the last, and of the last."""

_CONFIGS: Final = {int(known.funct): known for known in LOOP_WS_CONFIGS}
_ADDRESS_MASK: Final = (1 << 64) - 1
_LOCAL_MASK: Final = (1 << 32) - 1
_SIZE_MASK: Final = (1 << 16) - 1
_HALVES: Final = 2


def spacing(config: AcceleratorConfig) -> int:
    """Products from a load to the next: as long as it takes to load."""
    return max(1, MAX_REQUEST_BYTES // config.bus_bytes)


@dataclass
class LoopWs:
    """What the commands of LOOP_WS leave behind for the next ones."""

    config: AcceleratorConfig
    values: dict[str, int] = field(default_factory=dict)
    """Fields of the configuring commands, by name; 0 before the first command."""
    halves: dict[str, int] = field(default_factory=lambda: dict.fromkeys("abc", 0))
    """The halves to use next, 0 or 1: of the scratchpad for A and B, of the accumulator for C."""
    held: "_Run | None" = None
    """A loop whose loads are over."""

    def __post_init__(self) -> None:
        for known in _CONFIGS.values():
            self.values |= dict.fromkeys((operand.name for operand in known.operands), 0)

    def expand(self, command: Command, entry: int = 0) -> Iterator[tuple[int, Command]]:
        """What `command`, entry number `entry` of a program, lets go out, each with its entry."""
        if known := _CONFIGS.get(command.funct):
            self.values |= known.decode(command)
        elif LOOP_WS.matches(command):
            yield from self._begin(_Run(self, LOOP_WS.decode(command), entry))
        else:
            yield from self.finish()
            yield entry, command

    def finish(self) -> Iterator[tuple[int, Command]]:
        """What waits for a command behind the last one: there is none."""
        if run := self.held:
            self.held = None
            yield from ((run.entry, made) for pair in run.products() for made in pair)
            yield from ((run.entry, made) for made in run.stores())

    def turn(self, name: str, given: int = 0) -> int:
        """The half to use: the one `given` (1 or 2), or the next one."""
        if given:
            return (given - 1) % _HALVES
        half = self.halves[name]
        self.halves[name] = 1 - half
        return half

    def _begin(self, run: "_Run") -> Iterator[tuple[int, Command]]:
        loads = ((run.entry, made) for made in run.loads())
        if (held := self.held) and run.beside(held):
            for number, pair in enumerate(held.products()):
                yield from ((held.entry, made) for made in pair)
                if number % spacing(self.config) == 0 and (load := next(loads, None)):
                    yield load
            yield from loads
            yield from ((held.entry, made) for made in held.stores())
        else:
            yield from self.finish()
            yield from loads
        self.held = run


class _Matrix(NamedTuple):
    """Tiles in memory, and where they stand row by row."""

    dram: int
    stride: int
    local: int
    size: int
    """Bytes of an element."""
    row: str
    """What counts rows and columns of tiles."""
    col: str


class _Run:
    """One LOOP_WS."""

    def __init__(self, loop: LoopWs, run: dict[str, int], entry: int):
        self.config, self.dim, self.entry = loop.config, loop.config.dim, entry
        self.v, self.run = dict(loop.values), run
        self.i, self.j, self.k = (self.v[name] for name in "ijk")
        rows, words = loop.config.scratchpad_rows // 2, loop.config.accumulator_rows // 2
        self.has = {name: self.v[name] != 0 and not run[f"skip_{name}"] for name in "abcd"}
        self.half_a, self.half_b = (loop.turn(name, run[f"{name}_half"]) for name in "ab")
        self.a = self.half_a * rows
        self.b = (self.half_b + 1) * rows - self.k * self.j * self.dim & _LOCAL_MASK
        # Where half the accumulator is not enough, the first half and what follows it are used.
        half_c = loop.turn("c") if self.has["c"] else loop.halves["c"]
        fits = self.i * self.j * self.dim <= words
        self.half_c = half_c if fits else 0
        self.c = self.half_c * words | 1 << ACCUMULATOR_BIT
        self.fits = fits and (self.i + self.j) * self.k * self.dim <= rows

    def beside(self, held: "_Run") -> bool:
        """Whether loads may come between the products of `held`."""
        others = held.half_a, held.half_b
        apart = (
            not (self.has["a"] and self.half_a in others),
            not (self.has["b"] and self.half_b in others),
            not (self.has["d"] or self.run["residual"]) or self.half_c != held.half_c,
        )
        return self.fits and held.fits and all(apart)

    def loads(self) -> Iterator[Command]:
        """All that is to be loaded."""
        v, run = self.v, self.run
        if run["residual"]:
            sums = self.c | 1 << ACCUMULATE_BIT
            a = _Matrix(v["a"], v["a_stride"], self.c, 1, "i", "j")
            b = _Matrix(v["b"], v["b_stride"], sums, 1, "i", "j")
        else:
            a_axes, b_axes = ("ik", "kj")
            a_axes = a_axes[::-1] if run["a_transpose"] else a_axes
            b_axes = b_axes[::-1] if run["b_transpose"] else b_axes
            a = _Matrix(v["a"], v["a_stride"], self.a, 1, *a_axes)
            b = _Matrix(v["b"], v["b_stride"], self.b, 1, *b_axes)
            size = 1 if run["low_d"] else ACC_BYTES
            if self.has["d"]:
                yield from self._move(MVIN3, _Matrix(v["d"], v["d_stride"], self.c, size, "i", "j"))
        if self.has["a"]:
            yield from self._move(MVIN, a)
        if self.has["b"]:
            yield from self._move(MVIN2, b)

    def products(self) -> Iterator[tuple[Command, Command]]:
        """PRELOAD and COMPUTE of each."""
        if self.run["residual"] or self.run["skip_products"]:
            return
        for k in range(self.k):
            for j in range(self.j):
                yield from (self._product(k, j, i) for i in range(self.i))

    def stores(self) -> Iterator[Command]:
        """All that is to be stored."""
        full = self.run["full_c"]
        if not self.has["c"]:
            return
        if passes := PASSES.get(self.run["activation"]):
            yield from self._normalize(passes)
        else:
            local, size = self.c | full << FULL_BIT, ACC_BYTES if full else 1
            matrix = _Matrix(self.v["c"], self.v["c_stride"], local, size, "i", "j")
            yield from self._move(MVOUT, matrix)

    def _extent(self, name: str, first: int, tiles: int = 1) -> int:
        lacks = first + tiles == self.v[name] and self.v[f"pad_{name}"]
        return tiles * self.dim - lacks & _SIZE_MASK

    def _groups(self, name: str, most: int) -> Iterator[tuple[int, int]]:
        """The first ones of tiles that are moved together, and how many they are."""
        return ((x, min(most, self.v[name] - x)) for x in range(0, self.v[name], most))

    def _move(self, move: Instruction, x: _Matrix) -> Iterator[Command]:
        most = self.config.max_blocks if x.size == 1 else self.config.max_accumulator_blocks
        for row in range(self.v[x.row]):
            for col, tiles in self._groups(x.col, most):
                yield move.encode(
                    dram=x.dram + (row * x.stride + col) * self.dim * x.size & _ADDRESS_MASK,
                    local=x.local + (row * self.v[x.col] + col) * self.dim & _LOCAL_MASK,
                    local_cols=self._extent(x.col, col, tiles),
                    local_rows=self._extent(x.row, row),
                )

    def _product(self, k: int, j: int, i: int) -> tuple[Command, Command]:
        rows, inner, cols = (self._extent(n, x) for n, x in (("i", i), ("k", k), ("j", j)))
        a = k * self.i + i if self.run["a_transpose"] else i * self.k + k
        b = j * self.k + k if self.run["b_transpose"] else k * self.j + j
        c = self.c + (i * self.j + j) * self.dim & _LOCAL_MASK
        adds = bool(k) or self.run["accumulate"]
        preload = PRELOAD.encode(
            b=GARBAGE if i else self.b + b * self.dim & _LOCAL_MASK, b_cols=cols, b_rows=inner,
            c=c | adds << ACCUMULATE_BIT, c_cols=cols, c_rows=rows,
        )  # fmt: skip
        compute = (COMPUTE_ACCUMULATED if i else COMPUTE_PRELOADED).encode(
            a=self.a + a * self.dim & _LOCAL_MASK, a_cols=inner, a_rows=rows,
            d=GARBAGE, d_cols=cols, d_rows=rows,
        )  # fmt: skip
        return preload, compute

    def _normalize(self, passes) -> Iterator[Command]:
        rows = self.i * self.dim - self.v["pad_i"] & _LOCAL_MASK
        for first in range(0, rows, STATISTICS):
            for norms in passes:
                for row in range(first, min(first + STATISTICS, rows)):
                    yield CONFIG_BERT.encode(statistics=row - first, statistics_only=1)
                    yield from self._line(row, norms)

    def _line(self, row: int, norms: tuple[NormCommand, NormCommand]) -> Iterator[Command]:
        i, line = divmod(row, self.dim)
        for j, tiles in self._groups("j", self.config.max_blocks):
            norm = norms[j + tiles == self.j]
            dram = self.v["c"] + row * self.v["c_stride"] + j * self.dim
            yield MVOUT.encode(
                dram=dram & _ADDRESS_MASK,
                local=self.c + (i * self.j + j) * self.dim + line & _LOCAL_MASK | norm << NORM_LOW,
                local_cols=self._extent("j", j, tiles),
                local_rows=1,
            )
