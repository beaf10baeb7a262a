"""Products of LOOP_WS: tiles, and their places in local memory."""

from types import SimpleNamespace
from typing import Any

from amaranth import Cat, Const, Module, Mux, Signal, Value

from celosia.isa.address import ACCUMULATE_BIT, GARBAGE
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FUNCT_BITS, Funct

__all__ = ["Pointer", "Products", "command_of", "tile_word"]

ADDRESS_BITS = 64
LOCAL_BITS = 32
SIZE_BITS = 16


def tile_word(local: Value, cols: Value, rows: Value) -> Value:
    """An operand that is a local address with its columns and rows."""
    return Cat(_cut(local, LOCAL_BITS), _cut(cols, SIZE_BITS), _cut(rows, SIZE_BITS))


def command_of(funct: Value | int, rs1: Value, rs2: Value) -> Value:
    """A `COMMAND` of these parts, cut or extended to its widths."""
    code = funct if isinstance(funct, Value) else Const(int(funct))
    return Cat(_cut(code, FUNCT_BITS), _cut(rs1, ADDRESS_BITS), _cut(rs2, ADDRESS_BITS))


def _cut(value: Value, bits: int) -> Value:
    """`value` as so many bits."""
    return (value | Const(0, bits))[:bits]


class Pointer:
    """The place of a tile in two nested loops."""

    def __init__(self, name: str):
        self.now, self._start, self._inner, self._outer = (
            Signal(LOCAL_BITS, name=f"{name}{part}", reset_less=True)
            for part in ("", "_start", "_inner", "_outer")
        )

    def set(self, m: Module, first: Value, inner: Value | int, outer: Value | int) -> None:
        """Begin both loops."""
        m.d.sync += [
            self.now.eq(first),
            self._start.eq(first),
            self._inner.eq(inner),
            self._outer.eq(outer),
        ]

    def inner(self, m: Module) -> None:
        """The inner loop goes on."""
        m.d.sync += self.now.eq(self.now + self._inner)

    def again(self, m: Module) -> None:
        """The inner loop begins again, at the same place."""
        m.d.sync += self.now.eq(self._start)

    def outer(self, m: Module) -> None:
        """The outer loop goes on."""
        m.d.sync += [
            self.now.eq(self._start + self._outer),
            self._start.eq(self._start + self._outer),
        ]


class Products:
    """The products of a loop, and the one that is next.

    `loop` says how many tiles there are, and where the first ones stand; see `State.held`.
    """

    def __init__(self, config: AcceleratorConfig, loop: SimpleNamespace):
        self.config, self.loop = config, loop
        self.row, self.col, self.depth = (
            Signal(SIZE_BITS, name=name, reset_less=True) for name in ("row", "col", "depth")
        )
        self.a, self.b, self.c = (Pointer(f"{name}_local") for name in "abc")
        self._last_i, self._last_j = self.row + 1 == loop.i, self.col + 1 == loop.j
        self._last_k = self.depth + 1 == loop.k
        self.last = self._last_i & self._last_j & self._last_k

    def begin(self, m: Module) -> None:
        """Begin with the product of the first tiles."""
        dim, x = self.config.dim, self.loop
        m.d.sync += [self.row.eq(0), self.col.eq(0), self.depth.eq(0)]
        for pointer, first, turns, plain, turned in (
            (self.a, x.a_first, x.a_transpose, (x.k * dim, dim), (dim, x.i * dim)),
            (self.b, x.b_first, x.b_transpose, (dim, x.j * dim), (x.k * dim, dim)),
        ):
            steps = (Mux(turns, one, other) for one, other in zip(turned, plain, strict=True))
            pointer.set(m, first, *steps)
        self._begin_c(m)

    def _begin_c(self, m: Module) -> None:
        dim = self.config.dim
        self.c.set(m, self.loop.c_first, self.loop.j * dim, dim)

    def advance(self, m: Module) -> None:
        """Go to the next product: along rows of tiles first, then columns, then those of A."""
        m.d.sync += self.row.eq(self.row + 1)
        with m.If(~self._last_i):
            self.a.inner(m)
            self.c.inner(m)
        with m.Elif(~self._last_j):
            m.d.sync += [self.row.eq(0), self.col.eq(self.col + 1)]
            self.a.again(m)
            self.b.inner(m)
            self.c.outer(m)
        with m.Else():
            m.d.sync += [self.row.eq(0), self.col.eq(0), self.depth.eq(self.depth + 1)]
            self.a.outer(m)
            self.b.outer(m)
            self._begin_c(m)

    def preload(self) -> Value:
        """The first command of a product."""
        rows, cols, inner = self._extents()
        adds = Mux((self.depth != 0) | self.loop.accumulate, 1 << ACCUMULATE_BIT, 0)
        return command_of(
            Funct.PRELOAD,
            tile_word(Mux(self.row == 0, self.b.now, GARBAGE), cols, inner),
            tile_word(self.c.now | adds, cols, rows),
        )

    def compute(self) -> Value:
        """The second one."""
        rows, cols, inner = self._extents()
        return command_of(
            Mux(self.row == 0, Funct.COMPUTE_PRELOADED, Funct.COMPUTE_ACCUMULATED),
            tile_word(self.a.now, inner, rows),
            tile_word(Const(GARBAGE, LOCAL_BITS), cols, rows),
        )

    def _extents(self) -> tuple[Any, Any, Any]:
        """Rows and columns of C, and columns of A."""
        x, dim = self.loop, self.config.dim
        pads = (self._last_i, x.pad_i), (self._last_j, x.pad_j), (self._last_k, x.pad_k)
        rows, cols, inner = (dim - Mux(last, pad, 0) for last, pad in pads)
        return rows, cols, inner
