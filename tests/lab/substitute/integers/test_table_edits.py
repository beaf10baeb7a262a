"""What each substitution finds in small graphs, exactly, and what it leaves."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.lab.substitute.integers.edit import Edit, Moved, ordered
from celosia.lab.substitute.integers.prove import difference
from celosia.lab.substitute.integers.reader import IntegerReader
from celosia.lab.substitute.integers.table import SUBSTITUTIONS
from celosia.lab.substitute.optimize import differing_integers
from celosia.sw.ir.graph import AddResidual, Graph, MatMul, Requantize, Sums, Tensor, View
from celosia.sw.ir.graph_builder import GraphBuilder
from celosia.sw.rewriting.engine import sweep

RULES = {rule.name: rule for rule in SUBSTITUTIONS}


def swept(name: str, graph: Graph, *roots: str) -> Graph:
    """The graph behind one sweep, which takes edits at `roots`, refuses none and is exact."""
    done = sweep(RULES[name], graph)
    assert not done.refusals, [str(refusal) for refusal in done.refusals]
    assert [*done.accepted] == [*roots]
    if roots:
        assert differing_integers(graph, done.graph) is None
    return done.graph


def products(graph: Graph) -> dict[str, MatMul]:
    return {op.name: op for op in graph.ops if isinstance(op, MatMul)}


class Builder(GraphBuilder):
    """Products of one input with random weights."""

    def __init__(self):
        super().__init__("small")
        self.random = np.random.default_rng(24)
        self.x = self.input(Tensor("x", "int8", 3, 4))

    def weights(self, name, rows=4, cols=5):
        value = self.random.integers(-9, 9, (rows, cols)).astype(np.int8)
        return self.constant(f"{name}.w", value)

    def product(self, name, finish=None, kind="int8", **values):
        out = self.tensor(Tensor(name, kind, 3, 5))
        finish = finish or Requantize(0.25)
        return self.matmul(name, out, self.x, self.weights(name), finish, **values)


@pytest.mark.parametrize("gap", ["rows", "columns"])
def test_gaps_go_whether_rows_or_columns_are_missing(gap):
    builder = Builder()
    kept = builder.tensor(Tensor("kept", "int8", 3, 12) if gap == "columns" else Tensor(
        "kept", "int8", 8, 5))  # fmt: skip
    behind = kept.part(col=6) if gap == "columns" else kept.part(row=4)
    parts = [kept.part(rows=3, cols=5), behind.part(rows=3, cols=5)]
    for number, part in enumerate(parts):
        builder.matmul(f"p{number}", part, builder.x, builder.weights(f"p{number}"), Requantize(1))
    for number, part in enumerate(parts):
        out = builder.tensor(Tensor(f"out{number}", "int8", 3, 5))
        builder.matmul(f"q{number}", out, part, builder.weights(f"q{number}", 5), Requantize(0.1))
    found = swept("close-gaps", builder.finish("out0", "out1"), "p0")
    shape = (3, 10) if gap == "columns" else (6, 5)
    assert found.tensors["kept.kept"].shape == shape
    second = products(found)["q1"].a
    assert (second.row, second.col) == ((0, 5) if gap == "columns" else (3, 0))


def test_a_cache_stays_where_it_is_whatever_is_written():
    builder = Builder()
    held = builder.input(Tensor("held", "int8", 8, 5, cache=True))
    builder.matmul("append", held.part(row=3, rows=3), builder.x, builder.weights("a"),
                   Requantize(1))  # fmt: skip
    out = builder.tensor(Tensor("out", "int32", 8, 5))
    builder.matmul("read", out, held, builder.weights("r", 5), Sums())
    graph = builder.finish("out")
    assert swept("close-gaps", graph) is graph


def test_products_whose_finish_reads_a_residual_are_not_merged():
    builder = Builder()
    residual = builder.input(Tensor("residual", "int16", 3, 5))
    for name in ("p", "q"):
        builder.product(name, AddResidual(0.25, residual, 0.5), "int16")
    for name in ("p", "q"):
        out = builder.tensor(Tensor(f"{name}.sum", "int16", 3, 5))
        builder.matmul(f"{name}.last", out, builder.x, builder.weights(f"{name}.last"),
                       AddResidual(0.25, View(name, 0, 0, 3, 5), 0.5))  # fmt: skip
    swept("merge-products", builder.finish("p.sum", "q.sum"))


def test_all_operators_that_are_there_already_go_in_one_sweep():
    builder = Builder()
    for name in "ab":
        weights = builder.weights(name)
        last = builder.weights(f"{name}.last", 5)
        for number in range(2):
            made = builder.tensor(Tensor(f"{name}{number}", "int8", 3, 5))
            builder.matmul(f"{name}{number}", made, builder.x, weights, Requantize(0.25))
            out = builder.tensor(Tensor(f"{name}{number}.out", "int8", 3, 5))
            scale = 0.1 + number
            builder.matmul(f"{name}{number}.last", out, made, last, Requantize(scale))
    graph = builder.finish(*(f"{name}{number}.out" for name in "ab" for number in range(2)))
    found = swept("share-equal", graph, "a1", "b1")
    assert [*products(found)] == ["a0", "a0.last", "a1.last", "b0", "b0.last", "b1.last"]
    assert products(found)["b1.last"].a.tensor == "b0"


def biased(*biases):
    """Products with these biases."""
    builder = Builder()
    for number, bias in enumerate(biases):
        name = f"p{number}"
        row = None if bias is None else builder.constant(f"{name}.b", np.array([bias], np.int32))
        builder.product(name, bias=row)
    return builder.finish(*(f"p{number}" for number in range(len(biases))))


def test_each_bias_of_zeros_goes_and_no_other_does():
    zeros = [0] * 5
    graph = biased(None, zeros, [3, 0, 0, 0, 0], [0, 0, 0, 0, -1], [1, 2, 3, 4, 5], zeros)
    found = products(swept("plain-parameters", graph, "p1", "p5"))
    assert [name for name, op in found.items() if op.bias] == ["p2", "p3", "p4"]


def test_a_scale_of_all_columns_is_one_number_only_if_all_are_the_same():
    builder = Builder()
    rows = {"other": [0.5, 0.5, 0.5, 0.5, 0.25], "same": [0.5] * 5}
    for name, row in rows.items():
        scale = builder.constant(f"{name}.scale", np.array([row], np.float32))
        builder.product(name, Requantize(scale))
    found = products(swept("plain-parameters", builder.finish(*rows), "same"))
    assert found["same"].finish == Requantize(0.5)
    assert found["other"].finish == Requantize(View("other.scale", 0, 0, 1, 5))


@pytest.mark.parametrize("given", [(), ("product",), ("finish",), ("product", "finish")])
def test_sums_are_finished_in_their_product_if_both_biases_are_known(given):
    builder = Builder()

    def bias(name):
        if name in given:
            return builder.input(Tensor(f"{name}.b", "int32", 1, 5))
        return builder.constant(f"{name}.b", builder.random.integers(-9, 9, (1, 5)).astype("int32"))

    sums = builder.product("sums", Sums(), "int32", bias=bias("product"))
    out = builder.tensor(Tensor("out", "int8", 3, 5))
    builder.transform("finish", out, sums, Requantize(0.25), bias("finish"))
    found = swept("finish-in-product", builder.finish("out"), *([] if given else ["sums"]))
    assert len(found.ops) == (2 if given else 1)


@pytest.mark.parametrize("second", [0.5, None])
def test_sums_that_are_read_twice_stay(second):
    builder = Builder()
    sums = builder.product("sums", Sums(), "int32")
    for number, scale in enumerate([0.25, second]):
        if scale is not None:
            out = builder.tensor(Tensor(f"out{number}", "int8", 3, 5))
            builder.transform(f"finish{number}", out, sums, Requantize(scale))
    outs = ["out0", "out1"] if second else ["out0"]
    swept("finish-in-product", builder.finish(*outs), *([] if second else ["sums"]))


@pytest.mark.parametrize("column", range(5))
def test_one_wrong_column_is_enough_for_a_proof_to_fail(column):
    builder = Builder()
    made = builder.product("made")
    out = builder.tensor(Tensor("out", "int8", 3, 5))
    builder.matmul("last", out, made, builder.weights("last", 5), Requantize(0.1))
    graph = builder.finish("out")
    op = products(graph)["made"]
    wrong = graph.constants["made.w"].copy()
    wrong[:, column] += 40
    name = "wrong"
    edit = Edit(
        what="wrong",
        removed=(op,),
        added=(replace(op, b=View(name, 0, 0, 4, 5), out=View("new", 0, 0, 3, 5)),),
        tensors=(Tensor(name, "int8", 4, 5), Tensor("new", "int8", 3, 5)),
        constants={name: wrong},
        moved={"made": (Moved.by("new", (3, 5)),)},
    )
    assert "elements of made differ" in str(difference(IntegerReader(graph), edit))


def test_operators_stand_behind_all_whose_results_they_read():
    builder = Builder()
    one, other = builder.product("one"), builder.product("other")
    out = builder.tensor(Tensor("out", "int32", 3, 3))
    builder.matmul("both", out, one, other, Sums(), b_transposed=True)
    first, second, both = builder.finish("out").ops
    assert ordered([both, second, first]) == (second, first, both)
    assert ordered([first, both, second]) == (first, second, both)
