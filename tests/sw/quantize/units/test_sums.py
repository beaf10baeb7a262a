"""Sums of what the host looks up are units, where units alone read them; so are known multiples."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.graphs.quantized import run_model
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.segments import plan_segments
from celosia.sw.quantize.units.units import Finishing, Join, Normalization, Product
from celosia.sw.quantize.units.values import Form
from celosia.sw.quantize.units.vectors import Addition, Affine, Rectified, Subtraction
from tests.support.quantized_graph import quantize_graph
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


class Behind(GraphBuilder):
    """A builder with a norm, in 16 bits, of which nothing behind it is a part."""

    def __init__(self, rows=6):
        super().__init__("affine")
        self.x = self.input("x", TensorType("float32", (1, rows, 16)))
        ones = self.known(np.ones(16))
        self.made = self.op("rmsnorm", self.x, ones, axis=2, epsilon=1e-5)

    def product(self, x):
        return self.op("matmul", x, self.constant(floats(16, 16) / 4))

    def known(self, values):
        return self.constant(np.asarray(values, np.float32))


FACTORS = np.linspace(-2, 3, 16, dtype=np.float32)
ADDENDS = np.linspace(8, -5, 16, dtype=np.float32)


@pytest.mark.parametrize("factors", [FACTORS, None])
@pytest.mark.parametrize("addends", [ADDENDS, ADDENDS.reshape(1, 1, 16), np.float32(3), None])
@pytest.mark.parametrize("subtracted", [False, True])
def test_known_multiples_of_columns_are_one_unit(factors, addends, subtracted):
    """A batch normalization, MobileBERT's NoNorm, or one half of it."""
    g = Behind()
    y = g.made
    if factors is not None:
        y = g.op("mul", y, g.known(factors))
    if addends is not None:
        y = g.op("sub" if subtracted else "add", y, g.known(addends))
    units = find_units(g.finish({"y": y})).units
    if y == g.made:
        assert len(units) == 1
        return
    found = units[y]
    assert isinstance(found, Affine)
    assert (found.x.tensor, len(units)) == (g.made, 2)
    if factors is None:
        assert found.factors is None
    else:
        np.testing.assert_array_equal(found.factors, factors)
    if addends is None:
        assert found.addends is None
    else:
        sign = -1 if subtracted else 1
        np.testing.assert_array_equal(
            found.addends, np.broadcast_to(sign * addends, (1, 1, 16))[0, 0]
        )


def test_numbers_of_rows_and_nothings_are_no_unit():
    g = Behind()
    by_rows, nothing, endless = np.ones((6, 1)), np.zeros(16), np.full(16, np.inf)
    for values in (by_rows, nothing, endless):
        graph = Behind()
        y = graph.op("mul", graph.made, graph.known(values))
        assert y in find_units(graph.finish({"y": y})).refusals
    reader = g.op("sub", g.known(ADDENDS), g.made)
    assert reader in find_units(g.finish({"y": reader})).refusals, "it has another sign"


def test_factors_whose_result_others_read_are_a_unit_of_their_own():
    g = Behind()
    scaled = g.op("mul", g.made, g.known(FACTORS))
    y = g.op("add", scaled, g.known(ADDENDS))
    for outputs in ({"y": y, "scaled": scaled}, {"y": y, "z": g.product(scaled)}):
        units = find_units(g.finish(outputs)).units
        found = [units[name].nodes for name in (scaled, y)]
        assert found == [(scaled,), (y,)]


@pytest.mark.parametrize("rows", [6, 150])
@pytest.mark.parametrize(("read", "least"), [("products", 38), ("norms", 78), ("nobody", 80)])
def test_integers_of_known_multiples_are_near(rows, read, least):
    """Products read them as int8, norms as int16; no number of rows is special."""
    g = Behind(rows)
    y = g.op("add", g.op("mul", g.made, g.known(FACTORS)), g.known(ADDENDS))
    if read == "products":
        y = g.product(y)
    elif read == "norms":
        y = g.op("layernorm", y, g.known(np.ones(16)), g.known(np.zeros(16)), axis=2, epsilon=1e-5)
    graph = g.finish({"y": y})
    samples = [{"x": floats(1, rows, 16, seed=seed)} for seed in range(4)]
    given = {"x": floats(1, rows, 16, seed=9)}
    model = quantize_graph(graph, samples)
    found = run_model(model, given).outputs["y"]
    wanted = interpret(graph, given)["y"]
    assert np.square(found - wanted).sum() < np.square(wanted).sum() * 10 ** (-least / 10)


def test_a_column_with_large_numbers_and_a_small_factor_keeps_its_bits():
    """As outliers are in norms: between product and sum no step is coarser than that of the sum."""
    g = Behind()
    outlier = np.where(np.arange(16) == 3, 30, 1)
    x = g.op("rmsnorm", g.x, g.known(outlier), axis=2, epsilon=1e-5)
    y = g.op("add", g.op("mul", x, g.known(FACTORS / outlier)), g.known(ADDENDS / 8))
    graph = g.finish({"y": y})
    samples = [{"x": floats(1, 6, 16, seed=seed)} for seed in range(4)]
    given = {"x": floats(1, 6, 16, seed=9)}
    found = run_model(quantize_graph(graph, samples), given).outputs["y"]
    wanted = interpret(graph, given)["y"]
    lost = np.square(found - wanted)[..., 3].sum() / np.square(wanted)[..., 3].sum()
    assert lost < 10**-6


@pytest.mark.parametrize("most", [None, 1.5])
@pytest.mark.parametrize(("read", "least"), [("products", 38), ("norms", 68), ("nobody", 69)])
def test_what_is_above_zero_is_a_unit_behind_a_sum(read, least, most):
    """As in residual networks: a ReLU behind a sum, which no product finishes."""
    g = Behind(rows=70)
    total = g.op("add", g.made, g.op("rmsnorm", g.x, g.known(ADDENDS), axis=2, epsilon=1e-5))
    y = above = g.op("relu", total, **({} if most is None else {"most": most}))
    if read == "products":
        y = g.product(y)
    elif read == "norms":
        y = g.op("rmsnorm", y, g.known(np.ones(16)), axis=2, epsilon=1e-2)
    graph = g.finish({"y": y})
    unit = find_units(graph).units[above]
    assert isinstance(unit, Rectified)
    assert unit.most == most
    samples = [{"x": floats(1, 70, 16, seed=seed)} for seed in range(4)]
    given = {"x": floats(1, 70, 16, seed=9)}
    result = run_model(quantize_graph(graph, samples), given)
    found, wanted = result.outputs["y"], interpret(graph, given)["y"]
    assert np.square(found - wanted).sum() < np.square(wanted).sum() * 10 ** (-least / 10)
    if read == "nobody":
        assert found.min() == 0
        clipped = sum(result.saturated.values())
        assert clipped <= 4 if most is None else clipped > 100


def test_other_curves_behind_a_sum_are_the_host_s():
    g = Behind()
    y = g.op("gelu", g.op("add", g.made, g.x), form="erf")
    assert find_units(g.finish({"y": y})).refusals[y] == "it is not behind a product"


@pytest.mark.parametrize("axis", [1, 2])
def test_both_are_written_where_they_stand_beside_each_other(axis):
    g = Behind(rows=70)
    scaled = g.op("add", g.op("mul", g.made, g.known(FACTORS)), g.known(ADDENDS))
    both = g.op("concat", scaled, g.op("relu", g.made), axis=axis)
    cols = 16 * (axis == 2) + 16
    gamma = g.known(np.ones(cols))
    graph = g.finish({"y": g.op("rmsnorm", both, gamma, axis=2, epsilon=1e-5)})
    assert isinstance(find_units(graph).units[both], Join)
    samples = [{"x": floats(1, 70, 16, seed=seed)} for seed in range(4)]
    given = {"x": floats(1, 70, 16, seed=9)}
    found = run_model(quantize_graph(graph, samples), given).outputs["y"]
    wanted = interpret(graph, given)["y"]
    assert np.square(found - wanted).sum() < np.square(wanted).sum() * 10**-6.5


@pytest.mark.parametrize("op", ["add", "sub"])
def test_terms_may_have_factors_that_nobody_else_reads(op):
    """A slope below 0 is such a sum, and so are residuals by numbers."""
    g = Behind(rows=70)
    other = g.op("rmsnorm", g.x, g.known(ADDENDS), axis=2, epsilon=1e-5)
    terms = g.op("mul", g.made, g.known(3)), g.op("div", other, g.known(-4))
    y = g.op(op, *terms)
    graph = g.finish({"y": y})
    unit = find_units(graph).units[y]
    assert isinstance(unit, Subtraction)
    assert (unit.factors, unit.nodes) == ((3.0, -0.25), (*terms, y))
    samples = [{"x": floats(1, 70, 16, seed=seed)} for seed in range(4)]
    given = {"x": floats(1, 70, 16, seed=9)}
    found = run_model(quantize_graph(graph, samples), given).outputs["y"]
    wanted = interpret(graph, given)["y"]
    assert np.square(found - wanted).sum() < np.square(wanted).sum() * 10**-7.5
    shown = find_units(g.finish({"y": y, "first": terms[0]})).units[y]
    assert isinstance(shown, Subtraction)
    assert sorted(shown.factors) == [-0.25, 1.0], "others see its first term"


def test_a_relu_of_a_product_that_others_read_too_is_one_of_int16():
    """As in a slope below 0: as a part of the product it would be rounded to 8 bits."""
    g = Behind()
    product = g.product(g.x)
    above = g.op("relu", product)
    alone = find_units(g.finish({"y": above})).units
    assert isinstance(alone[above], Finishing)
    units = find_units(g.finish({"y": g.op("mul", above, product)})).units
    assert isinstance(units[above], Rectified)
