"""LOOP_WS: the commands of a product of tiles, as Gemmini's loop unit makes them.

A tile is ``dim`` x ``dim``.  Tiles of A stand in one half of the scratchpad from its beginning on,
those of B up to the end of a half, those of C and D in a half of the accumulator; each matrix row
by row of tiles.  One command moves one tile.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.bert import STATISTICS, Activation, NormCommand
from celosia.isa.config import ACC_BYTES, AcceleratorConfig
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
)
from celosia.isa.encoding.loops import LOOP_WS, LOOP_WS_CONFIGS

__all__ = ["PASSES", "LoopWs"]

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
_HALVES: Final = 2


@dataclass
class LoopWs:
    """What the commands of LOOP_WS leave behind for the next ones."""

    config: AcceleratorConfig
    values: dict[str, int] = field(default_factory=dict)
    """Of the configuring commands, by field; 0 before the first."""
    halves: dict[str, int] = field(default_factory=lambda: dict.fromkeys("abc", 0))
    """That are next: of the scratchpad for A and B, of the accumulator for C."""

    def __post_init__(self) -> None:
        for known in _CONFIGS.values():
            self.values |= dict.fromkeys((operand.name for operand in known.operands), 0)

    def expand(self, command: Command) -> Iterator[Command]:
        """What stands in the place of `command`: itself, if it is none of these."""
        if known := _CONFIGS.get(command.funct):
            self.values |= known.decode(command)
        elif LOOP_WS.matches(command):
            yield from _Run(self, LOOP_WS.decode(command)).commands()
        else:
            yield command

    def turn(self, name: str, given: int = 0) -> int:
        """The half to use: the one `given` (1 or 2), or the next one."""
        if given:
            return (given - 1) % _HALVES
        half = self.halves[name]
        self.halves[name] = 1 - half
        return half


class _Run:
    """One LOOP_WS."""

    def __init__(self, loop: LoopWs, run: dict[str, int]):
        self.dim, self.v, self.run = loop.config.dim, loop.values, run
        self.i, self.j, self.k = (self.v[name] for name in "ijk")
        rows, words = loop.config.scratchpad_rows // 2, loop.config.accumulator_rows // 2
        self.a = loop.turn("a", run["a_half"]) * rows
        self.b = (loop.turn("b", run["b_half"]) + 1) * rows - self.k * self.j * self.dim
        # Where half the accumulator is not enough, the first half and what follows it are used.
        half = loop.turn("c") if self.v["c"] else loop.halves["c"]
        self.c = half * words if self.i * self.j * self.dim <= words else 0

    def commands(self) -> Iterator[Command]:
        if self.run["residual"]:
            yield from self._add()
            return
        if self.v["d"]:
            for j, i in self._tiles():
                yield self._move(MVIN3, "d", i, j, size=1 if self.run["low_d"] else ACC_BYTES)
        for k in range(self.k):
            for j, i in self._tiles():
                yield from self._product(k, j, i)
        if self.v["c"] and self.run["activation"] in PASSES:
            yield from self._normalize(PASSES[self.run["activation"]])

    def _tiles(self) -> Iterator[tuple[int, int]]:
        return ((j, i) for j in range(self.j) for i in range(self.i))

    def _extent(self, name: str, index: int) -> int:
        last = index == self.v[name] - 1
        return (self.dim - last * self.v[f"pad_{name}"]) % (1 << 16)

    def _address(self, matrix: str, row: int, col: int, size: int = 1) -> int:
        tile = (row * self.v[f"{matrix}_stride"] + col) * self.dim * size
        return (self.v[matrix] + tile) & _ADDRESS_MASK

    def _local(self, i: int, j: int, **flags: int) -> int:
        """Of a tile of C."""
        row = self.c + (i * self.j + j) * self.dim
        return LocalAddress(row=row, accumulator=True).encode() | _flags(**flags)

    def _move(self, move, matrix: str, i: int, j: int, *, size: int = 1, **flags: int) -> Command:
        """A tile of what is as large as C."""
        return move.encode(
            dram=self._address(matrix, i, j, size),
            local=self._local(i, j, **flags),
            local_cols=self._extent("j", j),
            local_rows=self._extent("i", i),
        )

    def _add(self) -> Iterator[Command]:
        for j, i in self._tiles():
            yield self._move(MVIN, "a", i, j)
            yield self._move(MVIN2, "b", i, j, accumulate=1)
            if self.v["c"]:
                yield self._move(MVOUT, "c", i, j)

    def _product(self, k: int, j: int, i: int) -> Iterator[Command]:
        rows, inner, cols = (self._extent(n, x) for n, x in (("i", i), ("k", k), ("j", j)))
        a, row, col = self._tile("a", i, k, self.i, self.k)
        if self.v["a"] and not j:
            yield self._load(MVIN, "a", a, row, col, ("k", "i"), ("i", "k"))
        b, row, col = self._tile("b", k, j, self.k, self.j)
        if self.v["b"] and not i:
            yield self._load(MVIN2, "b", b, row, col, ("j", "k"), ("k", "j"))
        adds = bool(k) or self.run["accumulate"]
        yield PRELOAD.encode(
            b=GARBAGE if i else b, b_cols=cols, b_rows=inner,
            c=self._local(i, j, accumulate=adds), c_cols=cols, c_rows=rows,
        )  # fmt: skip
        compute = COMPUTE_ACCUMULATED if i else COMPUTE_PRELOADED
        yield compute.encode(a=a, a_cols=inner, a_rows=rows, d=GARBAGE, d_cols=cols, d_rows=rows)
        if self.v["c"] and k == self.k - 1 and self.run["activation"] not in PASSES:
            full = self.run["full_c"]
            yield self._move(MVOUT, "c", i, j, size=ACC_BYTES if full else 1, full=full)

    def _tile(self, name: str, row: int, col: int, rows: int, cols: int) -> tuple[int, int, int]:
        """Where a tile of A or B is, in the scratchpad and as row and column in memory."""
        if self.run[f"{name}_transpose"]:
            row, col, cols = col, row, rows
        first = self.a if name == "a" else self.b
        return first + (row * cols + col) * self.dim, row, col

    def _load(self, move, name: str, local: int, row: int, col: int, turned, plain) -> Command:
        row_name, col_name = turned if self.run[f"{name}_transpose"] else plain
        return move.encode(
            dram=self._address(name, row, col),
            local=local,
            local_cols=self._extent(col_name, col),
            local_rows=self._extent(row_name, row),
        )

    def _normalize(self, passes) -> Iterator[Command]:
        rows = self.i * self.dim - self.v["pad_i"]
        for first in range(0, rows, STATISTICS):
            for before, last in passes:
                for row in range(first, min(first + STATISTICS, rows)):
                    yield CONFIG_BERT.encode(statistics=row - first, statistics_only=1)
                    i, line = divmod(row, self.dim)
                    for j in range(self.j):
                        norm = last if j == self.j - 1 else before
                        address = self._address("c", 0, j) + row * self.v["c_stride"]
                        yield MVOUT.encode(
                            dram=address & _ADDRESS_MASK,
                            local=self._local(i, j, norm=norm) + line,
                            local_cols=self._extent("j", j),
                            local_rows=1,
                        )


def _flags(*, accumulate: int = 0, full: int = 0, norm: int = 0) -> int:
    return LocalAddress(row=0, accumulate=bool(accumulate), full=bool(full), norm=norm).encode()
