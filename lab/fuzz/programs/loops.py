"""Random loops: REPEATs around a few commands that advance, and PRODUCTS."""

from collections.abc import Callable
from random import Random
from typing import Final

from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_PRODUCTS, PRODUCTS, REPEAT, STRIDE, Command
from celosia.isa.operations.loops import MAX_LOOP_DEPTH

__all__ = ["RandomLoops"]

_LOW_BITS: Final = 4
"""A lane that wraps has its rows within so many."""


class RandomLoops:
    """Draws loops that are well formed; nothing is promised about what comes out of them.

    `command` draws a command for a body, and `local` a local address; see `RandomCommands`.
    """

    def __init__(
        self,
        config: AcceleratorConfig,
        random: Random,
        command: Callable[[], Command],
        local: Callable[..., int],
    ):
        self.config, self.random = config, random
        self._command, self._local = command, local

    def draw(self) -> list[Command]:
        """Products, or commands that are repeated."""
        return self._products() if self.random.randrange(3) == 0 else self._loop(0)

    def _loop(self, depth: int) -> list[Command]:
        body: list[Command] = []
        starts: list[int] = []
        for _ in range(self.random.choice((1, 1, 2, 3))):
            starts.append(len(body))
            if depth + 1 < MAX_LOOP_DEPTH and self.random.randrange(4) == 0:
                body += self._loop(depth + 1)
            else:
                body.append(self._command())
                body += [self._stride() for _ in range(self.random.randint(0, depth + 1))]
        length, count = len(body), self.random.choice((1, 2, 2, 3))
        left_out = length - self.random.choice((*starts[1:], length)) if count > 1 else 0
        return [REPEAT.encode(count=count, length=length, left_out=left_out), *body]

    def _stride(self) -> Command:
        """A STRIDE by a few local rows or bytes of memory, forwards or backwards."""
        dim = self.config.dim
        step = self.random.choice((0, 1, dim, -1, -dim, self.random.randint(-2 * dim, 2 * dim)))
        wrap = {"wrap1_0": self.random.choice((0, _LOW_BITS)), "wrap2_0": _LOW_BITS}
        other = self.random.choice((0, 0, 1, dim))
        ones = (1 << STRIDE.fields[0].bits) - 1
        if self.random.randrange(2):
            wrap["wrap2_0"] = 0
        return STRIDE.encode(addend1=step & ones, addend2=other, **wrap)

    def _products(self) -> list[Command]:
        dim = self.config.dim
        steps = (0, 1, dim, self.random.randrange(2 * dim), (1 << 16) - dim)
        strides = {field.name: self.random.choice(steps) for field in CONFIG_PRODUCTS.operands}
        values = {name: self._row() for name in ("a", "w")}
        values |= {name: self.random.choice((1, 1, 2)) for name in ("k", "pieces", "columns")}
        sizes = ("last_depth", "last_cols")
        values |= {name: self.random.choice((dim, self.random.randint(1, dim))) for name in sizes}
        return [
            CONFIG_PRODUCTS.encode(**strides),
            PRODUCTS.encode(
                **values,
                c=self._row(accumulator=True),
                rows=self.random.randint(1, 2 * dim),
                overwrite=self.random.randrange(2),
            ),
        ]

    def _row(self, *, accumulator: bool = False) -> int:
        """Row numbers of PRODUCTS have 16 bits: of a larger memory, it may be another row."""
        row = LocalAddress.decode(self._local(accumulator=accumulator)).row
        return row & PRODUCTS.fields[0].limit - 1
