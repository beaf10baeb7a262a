"""What nobody reads: the parts that stay are those that somebody does, no more and no less."""

import numpy as np
import pytest

from celosia.lab.substitute.integers.reader import IntegerReader
from celosia.lab.substitute.integers.unread import find_unread
from celosia.sw.ir.graph import Graph, LayerNorm, MatMul, Normalized, Op, Requantize, Tensor, View
from celosia.sw.ir.graph_builder import GraphBuilder

ROWS, COLS = 6, 8


class Builder(GraphBuilder):
    """Operators on one input, and readers of parts of what they make."""

    def __init__(self):
        super().__init__("small")
        self.random = np.random.default_rng(7)
        self.outputs: list[str] = []

    def weights(self, name: str, rows: int, cols: int) -> View:
        value = self.random.integers(-9, 9, (rows, cols)).astype(np.int8)
        return self.constant(f"{name}.w", value)

    def norm(self, *kinds: str) -> list[View]:
        """Outputs of one norm."""
        x = self.input(Tensor("x", "int16", ROWS, COLS))
        gamma = self.constant("gamma", np.full((1, COLS), 1 << 9, np.int16))
        beta = self.constant("beta", np.zeros((1, COLS), np.int32))
        outs = [self.tensor(Tensor(f"n{at}", kind, ROWS, COLS)) for at, kind in enumerate(kinds)]
        self.layernorm("norm", x, [Normalized(out, gamma, beta, 9) for out in outs])
        return outs

    def read(self, part: View) -> None:
        """A product of `part`, which is an output of the graph."""
        name = f"y{len(self.outputs)}"
        out = self.tensor(Tensor(name, "int8", part.rows, 3))
        self.matmul(name, out, part, self.weights(name, part.cols, 3), Requantize(0.1))
        self.outputs.append(name)

    def done(self) -> Graph:
        return self.finish(*self.outputs)


def kept(graph: Graph) -> dict[str, Op]:
    """The changed operators that stay, by name."""
    (edit,) = find_unread(IntegerReader(graph))
    assert {op.name for op in edit.added} <= {op.name for op in edit.removed}
    return {op.name: op for op in edit.added}


@pytest.mark.parametrize(
    ("parts", "first", "rows"),
    [([(2, 1)], 2, 1), ([(0, 2), (4, 1)], 0, 5), ([(1, 2), (4, 2)], 1, 5), ([(5, 1)], 5, 1)],
)
def test_rows_from_the_first_to_the_last_that_is_read_stay(parts, first, rows):
    builder = Builder()
    (out,) = builder.norm("int8")
    for row, count in parts:
        builder.read(out.part(row=row, rows=count))
    graph = builder.done()
    found = kept(graph)["norm"]
    assert isinstance(found, LayerNorm)
    (view,) = found.results
    assert (view.row, view.rows, view.cols) == (first, rows, COLS)


@pytest.mark.parametrize("read", [(0,), (1,)])
def test_an_output_of_which_only_some_is_read_stays_and_one_that_nobody_reads_goes(read):
    builder = Builder()
    outs = builder.norm("int8", "int8")
    for number in read:
        builder.read(outs[number].part(row=1, rows=2))
    found = kept(builder.done())["norm"]
    assert isinstance(found, LayerNorm)
    assert [(each.out.tensor, each.out.row, each.out.rows) for each in found.outputs] == [
        (f"n{number}", 1, 2) for number in read
    ]


def test_two_outputs_keep_the_rows_that_either_needs():
    builder = Builder()
    one, other = builder.norm("int8", "int8")
    builder.read(one.part(row=1, rows=1))
    builder.read(other.part(row=3, rows=2))
    found = kept(builder.done())["norm"]
    assert [(view.tensor, view.row, view.rows) for view in found.results] == [
        ("n0", 1, 4),
        ("n1", 1, 4),
    ]


def product() -> tuple[Builder, View]:
    builder = Builder()
    x = builder.input(Tensor("x", "int8", ROWS, 4))
    out = builder.tensor(Tensor("p", "int8", ROWS, COLS))
    return builder, builder.matmul("p", out, x, builder.weights("p", 4, COLS), Requantize(0.2))


def test_columns_of_a_product_that_nobody_reads_go_with_those_of_its_weights():
    builder, out = product()
    builder.read(out.part(col=3, cols=4))
    found = kept(builder.done())["p"]
    assert isinstance(found, MatMul)
    assert (found.out.col, found.out.cols) == (3, 4)
    assert (found.b.col, found.b.cols, found.a.cols) == (3, 4, 4)


def test_what_an_operator_that_goes_has_read_is_read_by_nobody():
    builder, out = product()
    middle = builder.tensor(Tensor("middle", "int8", ROWS, 2))
    builder.matmul("middle", middle, out, builder.weights("middle", COLS, 2), Requantize(0.3))
    builder.read(out.part(row=4, rows=1))
    (edit,) = find_unread(IntegerReader(builder.done()))
    assert [op.name for op in edit.removed] == ["p", "middle"]
    (stays,) = edit.added
    assert (stays.name, stays.results[0].row, stays.results[0].rows) == ("p", 4, 1)


def test_nothing_is_found_where_everything_is_read():
    builder, out = product()
    builder.read(out)
    assert not [*find_unread(IntegerReader(builder.done()))]
