"""Tensors of several roles: what is keys and queries, or keys here and values there.

Each graph is compared with the same one in which every role has a copy of its tensor.
"""

import re
from functools import cache

import numpy as np
import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.graph_run import GraphRun
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.ir import graph_interpret
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.units import Attention
from tests.support.quantized_graph import quantize_graph

BATCH, ROWS, WIDTH = 2, 7, 64
SEEDS = range(2)
LOST_DB = 5
"""What sharing may cost: all roles have one format of 8 bits, and weights here have columns of very
different sizes."""


class Net(GraphBuilder):
    """A builder of attention between products of an input; with `copies`, each role has its own."""

    def __init__(self, heads, seed, *, copies=False):
        super().__init__("test")
        self.heads, self.copies = heads, copies
        self.random = np.random.default_rng(seed)
        self.x = self.input("x", TensorType("float32", (BATCH, ROWS, WIDTH)))
        self.known = {}

    def once(self, name, make):
        if name not in self.known:
            self.known[name] = make()
        return self.known[name]

    def weights(self, name, *shape):
        """Normal numbers, with columns of sizes of their own."""
        sizes = np.geomspace(0.3, 3, shape[-1])
        drawn = self.random.standard_normal(shape) * self.random.permutation(sizes)
        return self.once(name, lambda: (drawn / 8).astype(np.float32))

    def product(self, name, width=WIDTH, bias=True):
        weights, more = self.weights(name, WIDTH, width), self.weights(f"{name} bias", width)

        def make():
            found = self.op("matmul", self.x, self.constant(weights))
            return self.op("add", found, self.constant(more)) if bias else found

        return make() if self.copies else self.once(f"{name} made", make)

    def split(self, x, heads=None):
        """Heads of a tensor, the same ones for all who ask."""
        heads = heads or self.heads
        cols = self.type(x).shape[-1] // heads

        def make():
            apart = self.op("reshape", x, shape=(BATCH, ROWS, heads, cols))
            return self.op("transpose", apart, permutation=(0, 2, 1, 3))

        return self.once(f"{x} by {heads}", make)

    def cut(self, x, start):
        sizes, starts = (BATCH, ROWS, WIDTH), (0, 0, start)
        return self.op("slice", x, starts=starts, sizes=sizes, steps=(1, 1, 1))

    def turned(self, x):
        """Rows of heads, the angles of their halves growing with their numbers."""
        half = self.type(x).shape[-1] // 2
        angles = np.outer(np.arange(ROWS), 10.0 ** -np.linspace(0, 2, half))
        table = np.concatenate([np.cos(angles), np.sin(angles)], axis=1)[None, None]
        return self.op("rotate", x, self.constant(table.astype(np.float32)))

    def attend(self, queries, keys, values, bias=None):
        cols = self.type(queries).shape[-1]
        across = self.op("transpose", keys, permutation=(0, 1, 3, 2))
        scores = self.op("matmul", queries, across)
        scores = self.op("mul", scores, self.like(cols**-0.5 / 2, scores))
        if bias is not None:
            scores = self.op("add", scores, bias)
        found = self.op("matmul", self.op("softmax", scores, axis=-1), values)
        merged = self.op("transpose", found, permutation=(0, 2, 1, 3))
        return self.op("reshape", merged, shape=(BATCH, ROWS, WIDTH))

    def out(self, *contexts):
        """The contexts, each times weights of its own, together."""
        weights = [self.weights(f"out {index}", WIDTH, 16) for index in range(len(contexts))]
        pairs = zip(contexts, map(self.constant, weights), strict=True)
        total, *more = [self.op("matmul", *pair) for pair in pairs]
        for each in more:
            total = self.op("add", total, each)
        return recognize(self.finish({"y": total})).graph


def roles(*letters):
    """A graph of one attention for each text such as "aab": its queries, keys and values.

    A capital letter is turned; `x` is the input, and `~` before a letter says that it is halved.
    """

    def build(net):
        def operand(letter):
            name = letter.strip("~").lower()
            whole = net.x if name == "x" else net.product(name, bias=name < "m")
            if letter.startswith("~"):
                whole = net.op("mul", whole, net.like(0.5, whole))
            found = net.split(whole)
            return net.turned(found) if letter.isupper() else found

        texts = [re.findall("~?.", text) for text in letters]
        return net.out(*(net.attend(*map(operand, text)) for text in texts))

    return build


def normed(net):
    norm = net.op(
        "layernorm",
        net.product("a"),
        net.constant(net.weights("gamma", WIDTH)),
        axis=-1,
        epsilon=1e-5,
    )
    heads = net.split(norm)
    return net.out(net.attend(heads, heads, net.split(net.product("b"))), norm)


def overlapping(net):
    """Keys begin in the middle of a head of queries, and values in the middle of one of keys."""
    half = WIDTH // net.heads // 2
    starts = (0, half, 2 * half)
    parts = [net.cut(net.product("a", 2 * WIDTH), start) for start in starts]
    return net.out(net.attend(*map(net.split, parts)))


def neighbours(net):
    """A head's keys are the queries of the next one."""
    step = WIDTH // net.heads
    parts = [net.cut(net.product("a", WIDTH + step), start) for start in (0, step)]
    return net.out(net.attend(*map(net.split, parts), net.split(net.product("b"))))


def partly_known(net):
    """Values of which some columns are keys of another attention."""
    wide = net.product("a", 2 * WIDTH)
    keys, values = net.split(net.cut(wide, 0)), net.split(net.cut(wide, WIDTH // 2))
    queries = net.split(net.product("b"))
    return net.out(net.attend(queries, keys, keys), net.attend(queries, queries, values))


def texts_in_columns(net):
    """Each text has columns of its own, and scores a bias."""
    wide = [net.product(name, BATCH * WIDTH) for name in "abc"]
    cols = WIDTH // net.heads
    sizes = (BATCH, ROWS, BATCH, net.heads, cols)

    def text(x):
        apart = net.op("reshape", x, shape=sizes)
        first = net.op("slice", apart, starts=(0,) * 5, sizes=(1, *sizes[1:]), steps=(1,) * 5)
        flat = net.op("reshape", first, shape=sizes[1:])
        return net.op("transpose", flat, permutation=(1, 2, 0, 3))

    bias = net.constant(net.weights("bias", 1, net.heads, ROWS, ROWS))
    return net.out(net.attend(*map(text, wide), bias))


def turned_otherwise(net):
    """Heads are turned in halves: a head of attention is two of the rotation."""

    def operand(name):
        turned = net.turned(net.split(net.product(name), 2 * net.heads))
        merged = net.op("transpose", turned, permutation=(0, 2, 1, 3))
        return net.split(net.op("reshape", merged, shape=(BATCH, ROWS, WIDTH)))

    return net.out(net.attend(*(operand(name) for name in "abc")))


def turned_twice(net):
    """All heads of keys are one, each turned for itself."""
    cols = WIDTH // net.heads
    one = net.split(net.product("a", cols), 1)
    keys = net.turned(net.op("broadcast", one, shape=(BATCH, net.heads, ROWS, cols)))
    return net.out(net.attend(net.split(net.product("b")), keys, net.split(net.product("c"))))


GRAPHS = {
    "queries are keys": roles("aab"),
    "queries are keys, without bias": roles("nnb"),
    "values are keys": roles("abb"),
    "values are queries": roles("aba"),
    "all are one": roles("aaa"),
    "all are the input": roles("xxx"),
    "keys are the input": roles("axx"),
    "halved queries are keys": roles("~aaa"),
    "halved keys are values": roles("b~a~a"),
    "keys of two": roles("abc", "dbe"),
    "queries of two": roles("abc", "ade"),
    "both of two": roles("abc", "abd"),
    "queries here, keys there": roles("abc", "cae"),
    "values here, keys there": roles("abc", "dce"),
    "values here, both there": roles("abc", "ccd"),
    "turned keys and queries": roles("AAb"),
    "turned without bias": roles("NNb"),
    "all are turned": roles("AAA"),
    "values are turned": roles("aBC"),
    "turned keys of two": roles("ABc", "DBe"),
    "turned or not": roles("Aab", "aAA"),
    "norms": normed,
    "overlapping": overlapping,
    "neighbours": neighbours,
    "partly known": partly_known,
    "texts in columns": texts_in_columns,
    "turned otherwise": turned_otherwise,
    "turned twice": turned_twice,
}


def samples(seed, count):
    random = np.random.default_rng(seed)
    return [
        {"x": random.standard_normal((BATCH, ROWS, WIDTH)).astype(np.float32)} for _ in range(count)
    ]


def decibels(real, found):
    return 10 * np.log10(np.square(real).sum() / np.square(real - found).sum())


@cache
def measured(name, heads, seed, *, copies=False):
    """The signal-to-noise ratio of an input, and the quantized model."""
    graph = GRAPHS[name](Net(heads, seed, copies=copies))
    model = quantize_graph(graph, samples(100 + seed, 10))
    (given,) = samples(seed, 1)
    return decibels(interpret(graph, given)["y"], run_model(model, given).outputs["y"]), model


@pytest.mark.parametrize("heads", [pytest.param(1, marks=pytest.mark.nightly), 2])
@pytest.mark.parametrize("name", GRAPHS)
def test_a_tensor_may_have_several_roles(name, heads):
    shared, copied = [], []
    for seed in SEEDS:
        graph = GRAPHS[name](Net(heads, seed))
        attentions = [
            unit for unit in find_units(graph).units.values() if isinstance(unit, Attention)
        ]
        assert attentions
        assert not any(node.op == "softmax" for node in graph.nodes)
        shared.append(measured(name, heads, seed)[0])
        copied.append(measured(name, heads, seed, copies=True)[0])
    assert np.median(shared) > np.median(copied) - LOST_DB


@pytest.mark.parametrize("name", GRAPHS)
def test_the_accelerator_computes_it_to_the_bit(name):
    _, model = measured(name, 2, 0)
    config = resolve_config("tiny", ())

    def segment(_, integers, given):
        run = GraphRun(
            FunctionalDevice(config, memory_bytes=1 << 22, seed=1), compile_graph(integers, config)
        )
        run.load(given)
        run.run()
        expected = graph_interpret.interpret(integers, given)
        for tensor in run.written:
            assert np.array_equal(run.read(tensor), expected[tensor]), tensor
        return expected

    run_model(model, samples(0, 1)[0], segment)
