"""Sums of what the host looks up are units, where units alone read them."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.quantize.units.units import Addition, Finishing, Normalization, Product
from celosia.sw.quantize.units.values import Form
from tests.sw.frontend.importer.models import floats


class LookedUp(GraphBuilder):
    """A builder with rows of tables, and a sum of some."""

    def __init__(self, tables=2, constant=False):
        super().__init__("embeddings")
        places = self.input("places", TensorType("int64", (2, 8)))
        rows = [
            self.op("gather", self.constant(floats(9, 16)), places, axis=0) for _ in range(tables)
        ]
        self.rows = rows
        self.sum = rows[0]
        for each in [*rows[1:], *([self.constant(floats(1, 8, 16))] if constant else [])]:
            self.sum = self.op("add", self.sum, each)

    def norm(self, x):
        ones = self.constant(np.ones(16, np.float32))
        return self.op("layernorm", x, ones, ones, axis=2, epsilon=1e-5)

    def product(self, x):
        return self.op("matmul", x, self.constant(floats(16, 16)))


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("tables", [2, 3])
def test_sums_of_what_is_looked_up_are_units_where_a_norm_reads_them(tables, constant):
    """Words, types and positions, looked up or known."""
    g = LookedUp(tables, constant)
    found = find_units(g.finish({"y": g.product(g.norm(g.sum))}))
    *sums, norm, product = found.units.values()
    assert [type(each) for each in sums] == [Addition] * (tables - 1 + constant)
    assert (type(norm), type(product)) == (Normalization, Product)
    assert {form.key for form in sums[0].reads()} == set(g.rows[:2])
    assert [*norm.reads()] == [Form(g.sum, "wide")]
    assert not found.refusals


def test_such_a_sum_may_be_read_by_a_residual_too():
    """As in front of a decoder's first layer."""
    g = LookedUp()
    y = g.op("add", g.sum, g.product(g.norm(g.sum)))
    first, *others = find_units(g.finish({"y": y})).units.values()
    assert isinstance(first, Addition)
    assert [type(each) for each in others] == [Normalization, Product, Finishing]
    assert Form(g.sum, "wide") in [*others[-1].reads()]


def test_such_a_sum_may_be_read_by_a_product_too():
    """As in front of layers whose norms stand behind their sums."""
    g = LookedUp()
    graph = g.finish({"y": g.norm(g.op("add", g.product(g.sum), g.sum))})
    units = find_units(graph)
    first, *others = units.units.values()
    assert isinstance(first, Addition)
    assert [type(each) for each in others] == [Product, Finishing, Normalization]
    assert plan_segments(graph, units).made[g.sum] == ("small", "wide")


@pytest.mark.parametrize(
    "reader",
    [lambda g: {"z": g.sum}, lambda g: {"z": g.op("tanh", g.sum)}],
    ids=["an output", "the host"],
)
def test_a_sum_that_the_host_reads_stays_the_host_s(reader):
    g = LookedUp()
    found = find_units(g.finish({"y": g.norm(g.sum), **reader(g)}))
    assert not found.of(Addition)
    assert g.sum in found.refusals


@pytest.mark.parametrize(("texts", "found"), [(16, 1), (17, 0)])
def test_known_rows_are_added_to_sixteen_texts_at_most(texts, found):
    """Each has an operator of its own; the host adds them to more."""
    builder = GraphBuilder("embeddings")
    places = builder.input("places", TensorType("int64", (texts, 2)))
    rows = builder.op("gather", builder.constant(floats(9, 16)), places, axis=0)
    total = builder.op("add", rows, builder.constant(floats(1, 2, 16)))
    ones = builder.constant(np.ones(16, np.float32))
    normed = builder.op("layernorm", total, ones, ones, axis=2, epsilon=1e-5)
    assert len(find_units(builder.finish({"y": normed})).of(Addition)) == found
