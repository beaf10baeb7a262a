"""Every pass takes operands of rank 0, and of sizes 0 and 1: it raises nothing, and is right.

A graph is what a pass looks for, or something like it: sizes, ranks, axes and the forms of
constants are drawn, and views that lose or add axes stand between its operators.
"""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import GraphError, TensorType
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.frontend.recognize.recognize import PASSES, recognize
from celosia.sw.frontend.recognize.rewrite import rewrite
from celosia.sw.quantize.graphs.sketch import sketch
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.placement import place
from celosia.sw.rewriting.engine import Fault
from tests.sw.frontend.recognize.drawn import Drawn


def norms(g):
    x = g.viewed(g.x(*g.sizes()))
    axes, keep = (g.type(x).rank - 1,), g.chance()
    assume(g.type(x).rank)
    mean = g.op("reduce_mean", x, axes=axes, keepdims=True)
    off = g.op("sub", x, mean) if g.chance() else x
    square = g.op("mul", off, off) if g.chance() else g.op("pow", off, g.number(2))
    reduced = g.op(f"reduce_{'sum' if g.chance() else 'mean'}", square, axes=axes, keepdims=keep)
    total = g.op("add", reduced, g.number(1e-5))
    if g.chance():
        size = g.op("mul", g.op("sqrt", total), g.number(0.5))
        y = g.op("div", off, g.op("max", size, g.number(1e-12)) if g.chance() else size)
    else:
        y = g.op("mul", off, g.op("pow", total, g.number(-0.5)))
    width = g.type(x).shape[-1]
    return g.op("add", g.op("mul", y, g.vector(width)), g.vector(width))


def head_norms(g):
    x = g.viewed(g.x(*g.sizes(1)))
    width = g.type(x).shape[-1] if g.type(x).rank else 0
    assume(width)
    normed = g.op("rmsnorm", x, g.known(width), axis=g.type(x).rank - 1, epsilon=1e-5)
    order = tuple(g.draw(st.permutations(range(g.type(x).rank))))
    return g.viewed(g.op("transpose", normed, permutation=order))


def activations(g):
    x = g.viewed(g.x(*g.sizes()), 2)
    if g.chance():
        return g.op("mul", x, g.op("sigmoid", g.op("mul", x, g.number(1.5))))
    inner = g.op("add", g.op("erf", g.op("div", x, g.number(2**0.5))), g.number(1))
    return g.op("mul", g.op("mul", x, inner), g.number(0.5))


def limits(g):
    x = g.viewed(g.x(*g.sizes()), 2)
    for op, end in g.draw(st.permutations([("max", 0), ("min", 6), ("min", -1)])):
        operands = [x, g.number(end)]
        x = g.op(op, *(operands[::-1] if g.chance() else operands))
        if g.chance():
            x = g.op("relu", x)
    return x


def slopes(g):
    x = g.viewed(g.x(*g.sizes()))
    multiple = g.op("mul", x, g.number(0.25))
    if g.chance():
        return g.op("max", x, multiple)
    return g.op("where", g.op("less", x, g.number(0)), multiple, x)


def products(g, x=None):
    """A product with weights and a bias."""
    x = x or g.viewed(g.x(*g.sizes(2)))
    assume(g.type(x).rank > 1)
    cols = g.draw(st.sampled_from([0, 1, 2, 4, 6]))
    inner = g.type(x).shape[-1]
    found = g.op("matmul", x, g.known(inner, cols))
    return g.op("add", g.viewed(found), g.vector(cols)) if g.chance() else found


def parts(g):
    whole = g.viewed(products(g))
    assume(g.type(whole).rank)
    axis = g.draw(st.integers(0, g.type(whole).rank - 1))
    half = g.type(whole).shape[axis] // 2
    gate = g.op("gelu", g.part(whole, axis, 0, half), form="erf")
    return g.op("mul", gate, g.part(whole, axis, half, half))


def stacks(g):
    x, width, count = g.viewed(g.x(*g.sizes(2))), g.size(), g.size()
    assume(g.type(x).rank > 1)
    depth = g.type(x).shape[-1]
    stack = g.draw(st.sampled_from([(), (1,), (count,), (count, 1)]))
    y = g.op("matmul", x, g.known(*stack, depth, width))
    y = g.op("gelu", y, form="erf") if g.chance() else y
    y = g.op("mul", y, g.known(*stack, 1, width)) if g.chance() else y
    return g.op("matmul", y, g.known(*stack, width, g.size())) if g.chance() else y


def convolutions(g):
    rank = g.draw(st.integers(0, 2))
    groups = g.draw(st.sampled_from([1, 1, 2, 8]))
    channels, count = groups * g.size(), groups * g.draw(st.sampled_from([0, 1, 8]))
    image = g.x(g.size(), channels, *g.sizes(rank, rank))
    kernel = g.draw(st.lists(st.integers(1, 2), min_size=rank, max_size=rank))
    filters = g.viewed(g.known(count, channels // groups, *kernel))
    bias = [g.known(count)] if g.chance() else []
    before, ones = (g.draw(st.integers(0, 1)),) * rank, (1,) * rank
    strides = tuple(kernel) if g.chance() else ones
    sizes = {"before": before, "after": before, "strides": strides, "dilations": ones}
    return g.op("conv", image, filters, *bias, **sizes, groups=groups)


def trims(g):
    image = convolutions(g)
    shape = g.type(image).shape
    starts = tuple(g.draw(st.integers(0, min(size, 2))) for size in shape)
    sizes = tuple(
        g.draw(st.integers(0, size - start)) for size, start in zip(shape, starts, strict=True)
    )
    return g.op("slice", image, starts=starts, sizes=sizes, steps=(1,) * len(shape))


def biases(g):
    image = convolutions(g)
    _, count, *places = g.type(image).shape
    ones = (1,) * len(places)
    shape = g.draw(st.sampled_from([(count, *ones), (1, count, *ones), (count,), ()]))
    return g.op("add", image, g.known(*shape))


def curves(g):
    x = g.viewed(g.x(*g.sizes(2)))
    assume(g.type(x).rank > 1)
    beside = [products(g, x) for _ in range(g.draw(st.integers(1, 3)))]
    whole = g.op("concat", *beside, axis=g.draw(st.integers(0, g.type(beside[0]).rank - 1)))
    return g.op("relu", g.viewed(whole, 2))


def rotary(g):
    x = g.viewed(g.x(*g.sizes(1)))
    assume(g.type(x).rank)
    axis, width = g.type(x).rank - 1, g.type(x).shape[-1]
    first, second = (g.part(x, axis, start, width // 2) for start in (0, width // 2))
    turned = g.op("concat", g.op("neg", second), first, axis=axis)
    tables = []
    for _ in range(2):
        table = g.viewed(g.x(*g.draw(st.sampled_from([(), (1,), (width // 2,), (2, width // 2)]))))
        rank = g.type(table).rank
        tables.append(g.op("concat", table, table, axis=rank - 1) if rank else table)
    return g.op("add", g.op("mul", x, tables[0]), g.op("mul", turned, tables[1]))


def part_rotations(g):
    shape = (*g.sizes(1, 3), g.draw(st.sampled_from([0, 2, 4, 6])))
    x = g.viewed(g.x(*shape))
    assume(g.type(x).rank)
    axis, width = g.type(x).rank - 1, g.type(x).shape[-1]
    turning = 2 * g.draw(st.integers(0, width // 2))
    first = g.draw(st.integers(0, width - turning))
    table = g.known(*g.draw(st.sampled_from([(turning,), (1, turning)])))
    middle = g.op("rotate", g.part(x, axis, first, turning), table)
    before, behind = g.part(x, axis, 0, first), g.part(x, axis, first + turning, 1)
    return g.viewed(g.op("concat", before, middle, behind, axis=axis))


def heads(g):
    batch, count, rows, keys, width = (g.size() for _ in range(5))
    shared = g.draw(st.sampled_from([1, count]))
    q, k, v = (
        g.x(batch, count, rows, width),
        g.x(batch, shared, keys, width),
        g.x(batch, shared, keys, 2),
    )
    if g.chance():
        places = g.constant(np.arange(width)[::-1])
        q, k = (g.op("gather", each, places, axis=3) for each in (q, k))
    return q, k, v


def attention(g):
    q, k, v = (g.viewed(each) for each in heads(g))
    scores = g.op("matmul", q, g.turned(k))
    if g.chance():
        scores = g.op("mul", scores, g.number(0.5))
    if g.chance():
        shape = g.draw(st.sampled_from([(), (1,), (1, 1), g.type(scores).shape[-2:]]))
        if g.chance():
            shown = g.input("shown", TensorType("bool", shape))
            scores = g.op("where", shown, scores, g.number(-1e9))
        else:
            scores = g.op("add", scores, g.x(*shape, name="bias"))
    weights = g.viewed(g.op("softmax", scores, axis=-1))
    if g.chance():
        return g.op("matmul", g.turned(v), g.turned(weights))
    return g.op("matmul", weights, v)


def masks(g):
    q, k, v = heads(g)
    batch, keys = g.type(k).shape[0], g.type(k).shape[2]
    shape = g.draw(st.sampled_from([(batch, keys), (keys,), (1, keys), (), (batch, 0)]))
    mask = g.input("mask", TensorType("int64", shape))
    bias = g.op("where", g.op("cast", mask, to="bool"), g.number(0), g.number(-np.inf))
    if len(shape) == 2:
        bias = g.op("reshape", bias, shape=(shape[0], 1, 1, shape[1]))
    if g.chance():
        bias = g.op("add", bias, g.known(*g.draw(st.sampled_from([(), (1, 1, 1, keys)]))))
    how = {"scale": 0.5, "causal": g.chance(), "first_query": g.draw(st.integers(0, 1))}
    return g.op("attention", q, k, v, bias, **how)


def orders(g):
    x = g.viewed(products(g), 2)
    assume(g.type(x).rank)
    axis = g.draw(st.integers(0, g.type(x).rank - 1))
    size = g.type(x).shape[axis]
    places = g.random.permutation(size)
    if g.chance():
        assume(size)
        places = np.asarray(g.random.integers(-size, size, g.sizes(most=2)))
    return g.viewed(g.op("gather", x, g.constant(places), axis=axis))


def groups(g):
    q, k, v = heads(g)
    count, shared = g.type(q).shape[1], g.type(k).shape[1]
    if shared and count % shared == 0:
        k, v = (repeated(g, each, count // shared) for each in (k, v))
    return g.op("attention", q, k, v, scale=1.0, causal=False, first_query=0)


def keys(g):
    q, k, v = heads(g)
    width = g.type(k).shape[-1]
    product = g.op("matmul", k, g.known(width, width))
    bias = g.op("mul", g.vector(width), g.number(60))
    biased = g.viewed(g.op("add", product, bias))
    q = biased if g.chance() else q
    return g.op("attention", q, biased, v, scale=0.1, causal=False, first_query=0)


def repeated(g, x, times):
    batch, shared, keys, cols = g.type(x).shape
    x = g.op("reshape", x, shape=(batch, shared, 1, keys, cols))
    x = g.op("broadcast", x, shape=(batch, shared, times, keys, cols))
    return g.op("reshape", x, shape=(batch, shared * times, keys, cols))


def squares(g):
    x = g.viewed(g.x(*g.sizes()))
    y = g.op("pow", g.op("relu", x) if g.chance() else x, g.number(2))
    return g.viewed(y)


def affines(g):
    rows, width = g.size(), g.size()
    product = g.op("matmul", g.x(rows, width), g.known(width, 4))
    y = g.viewed(product, 2)
    for _ in range(g.draw(st.integers(1, 2))):
        assume(g.type(y).rank)
        y = g.op(g.draw(st.sampled_from(["add", "sub", "mul"])), y, g.vector(g.type(y).shape[-1]))
        y = g.viewed(y)
    return y


def lookups(g):
    table, width = g.known(g.size(), 4), 4
    if g.chance():
        table = g.viewed(table)
        assume(g.type(table).rank)
        width = g.type(table).shape[-1]
    places = g.input("places", TensorType("int64", g.sizes(most=2)))
    assume(g.type(table).shape[0] or not g.type(places).size)
    y = g.op("gather", table, places, axis=0)
    for _ in range(g.draw(st.integers(1, 2))):
        y = g.op(g.draw(st.sampled_from(["add", "sub", "mul"])), y, g.vector(width))
    return y


def joined_sums(g):
    rows, width = g.size(), g.size()
    parts = [g.x(rows, width), g.known(rows, width)]
    axis = g.draw(st.integers(0, 1))
    joined = g.op("concat", *(parts if g.chance() else parts[::-1]), axis=axis)
    return g.op("add", joined, g.known(*g.type(joined).shape) if g.chance() else g.number(2))


def layouts(g):
    x = g.x(*g.sizes(2, 4))
    y = g.op("add", g.turned(x), g.turned(x))
    return g.op("mul", y, g.vector(g.type(y).shape[-1])) if g.chance() else g.op("abs", y)


def views(g):
    return g.viewed(g.x(*g.sizes()), 6)


FORMS = {
    "norms": norms,
    "head norms": head_norms,
    "activations": activations,
    "limits": limits,
    "slopes": slopes,
    "parts": parts,
    "trims": trims,
    "biases": biases,
    "stacks": stacks,
    "convolutions": convolutions,
    "curves": curves,
    "rotary": rotary,
    "part rotations": part_rotations,
    "attention": attention,
    "masks": masks,
    "orders": orders,
    "groups": groups,
    "keys": keys,
    "squares": squares,
    "affines": affines,
    "lookups": lookups,
    "joined sums": joined_sums,
    "layouts": layouts,
    "views": views,
}
"""What each pass looks for."""


def test_every_pass_has_its_form():
    assert FORMS.keys() == PASSES.keys()


fewer = settings(max_examples=40 if settings().derandomize else settings().max_examples)
"""By day: each form has all passes tried on it, so that forms alike make up for few examples."""


@pytest.mark.parametrize("name", FORMS)
@fewer
@given(data=st.data())
def test_small_operands(name, data):
    checked(name, drawn(name, data))


def checked(name, graph):
    whole = recognize(graph)
    assert not whole.faults
    alone = rewrite(graph, PASSES[name])
    assert not [each for each in alone.refusals if isinstance(each, Fault)]
    inputs = random_inputs(graph, ["mask"], 0)
    expected = interpret(graph, inputs)["out"]
    for each in (whole.graph, alone.graph):
        found = interpret(each, inputs)["out"]
        np.testing.assert_allclose(found, expected, atol=1e-4, rtol=1e-4)
    units = find_units(whole.graph)
    assert units.units.keys() <= {node.name for node in whole.graph.nodes}
    assert 0 <= place(graph, whole, units).accelerator_mac_share <= 1
    sketch(whole.graph)


def drawn(name, data):
    builder = Drawn(data.draw)
    try:
        found = FORMS[name](builder)
        if builder.value(found) is None and builder.chance():
            found = products(builder, builder.viewed(found))
        return builder.finish({"out": found})
    except GraphError:
        assume(False)
