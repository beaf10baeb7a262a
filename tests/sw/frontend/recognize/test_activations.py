"""Activations are found in whatever form they are written."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize import activations
from celosia.sw.frontend.recognize.activations import (
    find_activations,
    find_limits,
    find_slopes,
    find_squares,
)
from celosia.sw.frontend.recognize.rewrite import rewrite


class Graph(GraphBuilder):
    """A builder with numbers as operands, on a product with a bias."""

    def __init__(self):
        super().__init__("test")
        self.input("y", TensorType("float32", (5, 16)))
        bias = self.constant(np.linspace(-1, 1, 16, dtype=np.float32))
        self.x = self.op("add", "y", bias)

    def __call__(self, op, *operands):
        names = [each if isinstance(each, str) else self.like(each, "y") for each in operands]
        return self.op(op, *names)


def gelu_erf(g):
    erf = g("erf", g("div", g.x, np.sqrt(2)))
    return g("mul", g("mul", g.x, g("add", erf, 1)), 0.5)


def gelu_erf_by_halves(g):
    return g("mul", g.x, g("mul", 0.5, g("add", 1, g("erf", g("mul", g.x, np.sqrt(0.5))))))


def gelu_tanh(g):
    cube = g("mul", g("pow", g.x, 3), 0.044715)
    inner = g("mul", g("add", g.x, cube), np.sqrt(2 / np.pi))
    return g("mul", g("mul", g.x, 0.5), g("add", g("tanh", inner), 1))


def gelu_fast(g):
    """0.5 x (1 + tanh(x * 0.7978845608 * (1 + 0.044715 x x))), as in some ports."""
    inner = g("add", 1, g("mul", g("mul", g.x, 0.044715), g.x))
    inner = g("mul", g("mul", g.x, np.sqrt(2 / np.pi)), inner)
    return g("mul", g("mul", 0.5, g.x), g("add", 1, g("tanh", inner)))


def silu(g):
    return g("mul", g.x, g("sigmoid", g.x))


def silu_by_exponential(g):
    return g("div", g.x, g("add", 1, g("exp", g("neg", g.x))))


def quick_gelu(g):
    return g("mul", g.x, g("sigmoid", g("mul", g.x, 1.702)))


@pytest.mark.parametrize(
    ("write", "op", "attributes"),
    [
        (gelu_erf, "gelu", {"form": "erf"}),
        (gelu_erf_by_halves, "gelu", {"form": "erf"}),
        (gelu_tanh, "gelu", {"form": "tanh"}),
        (gelu_fast, "gelu", {"form": "tanh"}),
        (silu, "silu", {"alpha": 1.0}),
        (silu_by_exponential, "silu", {"alpha": 1.0}),
        (quick_gelu, "silu", {"alpha": pytest.approx(1.702)}),
    ],
)
def test_an_activation_becomes_one_operator(write, op, attributes):
    g = Graph()
    done = rewrite(g.finish({"out": write(g)}), find_activations)
    assert [node.op for node in done.graph.nodes] == ["add", op]
    assert done.graph.nodes[-1].attributes == attributes


def test_other_factors_are_not_taken_for_an_activation():
    g = Graph()
    out = g("mul", g("mul", g.x, g("add", g("erf", g("div", g.x, 1.5)), 1)), 0.5)
    graph = g.finish({"out": out})
    assert rewrite(graph, find_activations).graph is graph


def test_a_new_curve_needs_no_recognizer(monkeypatch):
    """Its forms are enough, also where it is written by what cuts numbers off."""
    monkeypatch.setitem(activations.CURVES, "relu", lambda _: ({},))
    g = Graph()
    cut = g("max", g("min", g("neg", g.x), 0), -1e6)
    graph = rewrite(g.finish({"out": g("neg", cut)}), find_activations).graph
    assert [node.op for node in graph.nodes] == ["add", "relu"]


@pytest.mark.parametrize(
    ("steps", "most"),
    [
        ([("max", 0), ("min", 6)], 6),
        ([("min", 6), ("max", 0)], 6),
        ([("relu",), ("min", 1.5)], 1.5),
        ([("max", 0), ("min", 6), ("min", 4), ("max", -1)], 4),
        ([("max", 0)], None),
    ],
)
def test_ends_in_any_order_become_one_relu(steps, most):
    g = Graph()
    x = g.x
    for op, *end in steps:
        x = g(op, x, *end)
    done = rewrite(g.finish({"out": x}), find_limits)
    assert [node.op for node in done.graph.nodes] == ["add", "relu"]
    assert done.graph.nodes[-1].attributes == ({} if most is None else {"most": most})


@pytest.mark.parametrize(
    "steps",
    [
        [("max", -1), ("min", 1)],
        [("min", -2), ("max", 0)],
        [("min", 0), ("max", 0)],
        [("max", 1e-6), ("min", 6)],
        [("min", 6)],
        [("relu",)],
    ],
)
def test_other_ends_stay(steps):
    g = Graph()
    x = g.x
    for op, *end in steps:
        x = g(op, x, *end)
    before = g.finish({"out": x})
    done = rewrite(before, find_limits)
    assert done.graph.nodes == before.nodes
    assert not done.refusals


@pytest.mark.parametrize(("end", "most"), [(8, 6), (4, 4)])
def test_the_end_that_a_relu_has_already_counts(end, most):
    g = Graph()
    cut = g("min", g.op("relu", g.x, most=6.0), end)
    graph = rewrite(g.finish({"out": cut}), find_limits).graph
    assert [node.op for node in graph.nodes] == ["add", "relu"]
    assert graph.nodes[-1].attributes == {"most": most}


def sloped(g, slope, form):
    """What has another slope below 0, as files write it."""
    multiple = g("mul", g.x, slope)
    if form == "where":
        return g.op("where", g("less", g.x, 0), multiple, g.x)
    return g.op("max", *((multiple, g.x) if form == "max" else (g.x, multiple)))


@pytest.mark.parametrize("form", ["where", "max", "max, turned"])
def test_another_slope_below_0_is_a_sum_of_multiples(form):
    g = Graph()
    before = g.finish({"out": sloped(g, 0.125, form)})
    after = rewrite(before, find_slopes).graph
    assert [node.op for node in after.nodes] == ["add", "relu", "mul", "mul", "add"]
    given = {"y": np.linspace(-8, 8, 80, dtype=np.float32).reshape(5, 16)}
    for found, wanted in zip(
        interpret(after, given).values(), interpret(before, given).values(), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("slope", "form"),
    [(1.5, "max"), (-0.5, "max"), (np.linspace(0.1, 0.4, 16), "where"), (0, "max")],
)
def test_what_is_no_slope_below_0_stays(slope, form):
    """The larger one of a tensor and its half more is another thing below and above."""
    g = Graph()
    before = g.finish({"out": sloped(g, slope, form)})
    found = rewrite(before, find_slopes)
    assert (found.graph.nodes, found.refusals) == (before.nodes, ())


@pytest.mark.parametrize("least", [-1, 0.5])
def test_a_slope_that_begins_elsewhere_stays(least):
    g = Graph()
    bent = g.op("where", g("less", g.x, least), g("mul", g.x, 0.5), g.x)
    before = g.finish({"out": bent})
    assert rewrite(before, find_slopes).graph.nodes == before.nodes


def test_a_power_of_2_is_a_product_of_a_tensor_and_itself():
    g = Graph()
    graph = rewrite(g.finish({"out": g("pow", g("relu", g.x), 2)}), find_squares).graph
    assert [node.op for node in graph.nodes] == ["add", "relu", "mul"]
    assert graph.nodes[-1].inputs == (graph.nodes[1].name,) * 2


@pytest.mark.parametrize("power", [-2, 0.5, 1, 1.999, 3])
def test_other_powers_are_no_products(power):
    g = Graph()
    before = g.finish({"out": g("pow", g.x, power)})
    assert rewrite(before, find_squares).graph.nodes == before.nodes


def test_a_power_of_2_to_each_of_several_numbers_is_none_of_them():
    """2 is what is raised, and a number is repeated for several powers: neither is a square."""
    g = Graph()
    number = g.constant(np.float32(3))
    twos = g.constant(np.full((5, 16), 2, np.float32))
    for name in (g("pow", 2, g.x), g.op("pow", number, twos)):
        before = g.finish({"out": name})
        assert rewrite(before, find_squares).graph.nodes == before.nodes
