"""Graphs in the making, whose sizes, ranks, constants and views hypothesis draws."""

from math import prod

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType

SIZES = st.sampled_from([0, 1, 1, 2, 2, 4])


class Drawn(GraphBuilder):
    """A graph in the making, whose choices hypothesis draws."""

    def __init__(self, draw):
        super().__init__("small")
        self.draw = draw
        self.random = np.random.default_rng(draw(st.integers(0, 9)))

    def chance(self):
        return self.draw(st.booleans())

    def size(self):
        return self.draw(SIZES)

    def sizes(self, least=0, most=4):
        return tuple(self.draw(st.lists(SIZES, min_size=least, max_size=most)))

    def x(self, *shape, name="x", dtype="float32"):
        """An input, or a constant."""
        if self.draw(st.integers(0, 7)):
            return self.input(self._free(name), TensorType(dtype, shape))
        return self.constant(np.asarray(self.random.standard_normal(shape)).astype(dtype))

    def known(self, *shape):
        return self.constant(np.asarray(self.random.standard_normal(shape), np.float32))

    def number(self, value):
        """A number in any shape that has one element."""
        shape = (1,) * self.draw(st.integers(0, 2))
        return self.constant(np.full(shape, value, np.float32))

    def vector(self, width):
        shape = self.draw(st.sampled_from([(), (1,), (width,), (1, width), (width, 1), (0,)]))
        return self.known(*shape)

    def turned(self, x):
        rank = self.type(x).rank
        assume(rank >= 2)
        order = (*range(rank - 2), rank - 1, rank - 2)
        return self.op("transpose", x, permutation=order)

    def part(self, x, axis, start, size):
        shape = list(self.type(x).shape)
        assume(shape)
        starts, steps = [0] * len(shape), (1,) * len(shape)
        starts[axis], shape[axis] = start, size
        return self.op("slice", x, starts=tuple(starts), sizes=tuple(shape), steps=steps)

    def viewed(self, x, most=1):
        """A few views of a tensor."""
        for _ in range(self.draw(st.integers(0, most))):
            x = self.view(x)
        return x

    def view(self, x):
        shape = self.type(x).shape
        ways = {
            "transpose": lambda: {
                "permutation": tuple(self.draw(st.permutations(range(len(shape)))))
            },
            "reshape": lambda: {"shape": self.draw(st.sampled_from([(prod(shape),), (1, *shape)]))},
        }
        if prod(shape) == 1:
            ways["reshape"] = lambda: {"shape": ()}
        if prod(shape) < 100:
            ways["broadcast"] = lambda: {"shape": (self.size(), *shape)}
        kind = self.draw(st.sampled_from([*ways, "gather", "slice"]))
        if kind in ways:
            return self.op(kind, x, **ways[kind]())
        axis = self.draw(st.integers(0, max(0, len(shape) - 1)))
        assume(axis < len(shape))
        if kind == "slice":
            return self.part(x, axis, 0, self.draw(st.integers(0, shape[axis])))
        assume(shape[axis])
        places = np.asarray(self.random.integers(0, shape[axis], self.sizes(most=2)))
        return self.op("gather", x, self.constant(places), axis=axis)
