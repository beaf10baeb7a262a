"""Random graphs of integers in which every substitution finds something now and then."""

import numpy as np

from celosia.sw.ir.graph import (
    Activation,
    AddResidual,
    DeferredSoftmax,
    DivideBySums,
    Mask,
    Normalized,
    Requantize,
    Sums,
    Tensor,
)
from celosia.sw.ir.graph_builder import GraphBuilder

__all__ = ["rewritable_graph"]


class _Random:
    """A graph in the making."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.builder = GraphBuilder(f"rewritable {seed}")
        self.count = 0
        self.rows, self.cols = (int(size) for size in self.random.integers(2, 24, 2))
        self.outputs = []

    def chance(self, probability):
        return self.random.random() < probability

    def name(self, what):
        self.count += 1
        return f"{what}{self.count}"

    def constant(self, kind, rows, cols, low, high):
        value = self.random.integers(low, high, (rows, cols)).astype(kind)
        if low == 0 == high - 1 or self.chance(0.15):
            value[...] = 0
        return self.builder.constant(self.name("constant"), value)

    def tensor(self, kind, rows, cols, read=0.5):
        name = self.name("tensor")
        if not self.chance(read):
            self.outputs.append(name)
        return self.builder.tensor(Tensor(name, kind, rows, cols))

    def scale(self, cols, around):
        if self.chance(0.4):
            return around
        spread = 0 if self.chance(0.3) else 0.5
        row = around * self.random.uniform(1 - spread, 1 + spread, (1, cols))
        return self.builder.constant(self.name("scale"), row.astype(np.float32))

    def bias(self, cols):
        return self.constant("int32", 1, cols, -500, 500) if self.chance(0.6) else None

    def product(self, x, cols, read=0.8):
        """A product of `x` to int8, by way of its sums or not."""
        transposed = self.chance(0.3)
        shape = (cols, x.cols) if transposed else (x.cols, cols)
        b = self.constant("int8", *shape, -90, 90)
        finish = Requantize(self.scale(cols, 0.004), relu=self.chance(0.3))
        if self.chance(0.3):
            finish = Activation("gelu", self.scale(cols, 0.5), 1e-5)
        out, bias = self.tensor("int8", x.rows, cols, read), self.bias(cols)
        if not self.chance(0.3):
            return self.builder.matmul(
                self.name("product"), out, x, b, finish, bias=bias, b_transposed=transposed
            )
        sums = self.tensor("int32", x.rows, cols, 0.9)
        product = self.name("product")
        self.builder.matmul(product, sums, x, b, Sums(), bias=bias, b_transposed=transposed)
        self.builder.transform(self.name("finish"), out, sums, finish, self.bias(cols))
        return out

    def norms(self, x):
        for _ in range(2):
            out = self.tensor("int8" if self.chance(0.5) else "int16", *x.shape)
            gamma = self.constant("int16", 1, x.cols, -900, 900)
            beta = self.constant("int32", 1, x.cols, -900, 900)
            self.builder.layernorm(self.name("norm"), x, [Normalized(out, gamma, beta, 9)])

    def attention(self, q, k, v):
        scores = self.tensor("uint8", q.rows, k.rows, 1.0)
        sums = self.tensor("int32", q.rows, 1, 1.0)
        out = self.tensor("int8", q.rows, v.cols, 0.9)
        softmax = DeferredSoftmax(0.05, sums, Mask(causal=self.chance(0.5)))
        self.builder.matmul(self.name("scores"), scores, q, k, softmax, b_transposed=True)
        self.builder.matmul(self.name("context"), out, scores, v, DivideBySums(sums, 2.0**-14))
        return out


def rewritable_graph(seed):
    """A graph whose products share inputs, of whose results only parts are read."""
    maker = _Random(seed)
    x = maker.builder.input(Tensor("x", "int8", maker.rows, maker.cols))
    stream = maker.builder.input(Tensor("stream", "int16", maker.rows, maker.cols))
    made = [maker.product(x, maker.cols) for _ in range(3)]
    if maker.chance(0.5):
        made.append(_twice(maker, x))
    made.append(maker.attention(*made[:3]))
    total = maker.tensor("int16", *stream.shape, 0.9)
    weights = maker.constant("int8", maker.cols, maker.cols, -90, 90)
    finish = AddResidual(maker.scale(maker.cols, 0.5), stream, 0.7)
    maker.builder.matmul(maker.name("sum"), total, made[-1], weights, finish)
    maker.norms(total)
    packed = maker.product(x, 3 * maker.cols)
    parts = [packed.part(col=part * maker.cols, cols=maker.cols) for part in range(3)]
    parts[0] = parts[0].part(row=0, rows=1 if maker.chance(0.7) else maker.rows)
    made.append(maker.attention(*parts))
    last = made[maker.random.integers(len(made))]
    first = last.part(rows=1) if maker.chance(0.6) else last
    out = maker.product(first, maker.cols, 0.0)
    return maker.builder.finish(*dict.fromkeys([*maker.outputs, out.tensor]))


def _twice(maker, x):
    """The same product twice, of which the first is read by nobody else."""
    b = maker.constant("int8", x.cols, maker.cols, -90, 90)
    outs = [maker.tensor("int8", x.rows, maker.cols, 0.9) for _ in range(2)]
    for out in outs:
        maker.builder.matmul(maker.name("same"), out, x, b, Requantize(0.01))
    return outs[1]
