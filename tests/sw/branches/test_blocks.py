"""Blocks of graphs: what depends on what, and which neighbors are one."""

from celosia.sw.branches.blocks import blocks_of, part_of
from celosia.sw.ir.graph import (
    DeferredSoftmax,
    DivideBySums,
    Graph,
    Mask,
    MatMul,
    Requantize,
    Tensor,
    View,
)


def product(name: str, source: str, out: str, *, row: int = 0, rows: int = 4) -> MatMul:
    """Rows of `out` by rows of `source`, from the first on."""
    return MatMul(
        name=name,
        out=View(out, row, 0, rows, 4),
        a=View(source, 0, 0, rows, 4),
        b=View("w", 0, 0, 4, 4),
        finish=Requantize(1.0),
    )


def graph(*ops: MatMul) -> Graph:
    names = {view.tensor for op in ops for view in (*op.operands, *op.results)}
    tensors = {name: Tensor(name, "int8", 32, 4, cache=name == "cache") for name in sorted(names)}
    return Graph(name="g", tensors=tensors, inputs=("x",), outputs=(), ops=ops)


def shape(made: Graph) -> list[tuple[str, set[int]]]:
    """The operators of each block, and what it needs."""
    return [("".join(op.name for op in each.ops), set(each.needs)) for each in blocks_of(made)]


def test_queries_keys_and_values_are_one_block():
    ops = [product(name, "x", name) for name in "abc"]
    both = MatMul(
        name="d",
        out=View("d", 0, 0, 4, 4),
        a=View("a", 0, 0, 4, 4),
        b=View("b", 0, 0, 4, 4),
        finish=Requantize(1.0),
    )
    last = product("e", "d", "e")
    # Nobody reads c: it is no neighbor of the others' kind.
    assert shape(graph(*ops, both, last)) == [
        ("ab", set()),
        ("c", set()),
        ("d", {0}),
        ("e", {2}),
    ]


def test_neighbors_that_need_something_else_are_apart():
    ops = [
        product("a", "x", "a"),
        product("b", "y", "b"),
        product("c", "a", "c"),
        product("d", "b", "d"),
    ]
    made = graph(*ops)
    # What each is read by differs.
    assert shape(made) == [("a", set()), ("b", set()), ("c", {0}), ("d", {1})]
    assert [op.name for op in part_of(made, blocks_of(made)[1:3]).ops] == ["b", "c"]


def test_what_writes_where_another_one_reads_or_writes_comes_behind_it():
    reader, writer = product("a", "x", "a"), product("b", "y", "x")
    assert shape(graph(reader, writer)) == [("a", set()), ("b", {0})]
    again = product("b", "y", "a")
    assert shape(graph(reader, again)) == [("a", set()), ("b", {0})]
    apart = product("b", "y", "a", row=4)
    assert shape(graph(reader, apart)) == [("a", set()), ("b", set())]
    touching = product("b", "y", "a", row=3)
    assert shape(graph(reader, touching)) == [("a", set()), ("b", {0})]


def test_rows_of_a_cache_that_move_are_any_of_them():
    """With a mask that moves, programs are patched for other rows: no two are known to be apart."""
    first, sums = product("a", "x", "cache"), View("sums", 0, 0, 4, 1)
    context = MatMul(
        name="c",
        out=View("c", 0, 0, 4, 4),
        a=View("n", 0, 0, 4, 4),
        b=View("v", 0, 0, 4, 4),
        finish=DivideBySums(sums, 1.0),
    )
    for moving, needs in ((True, {0}), (False, set())):
        scores = MatMul(
            name="s",
            out=context.a,
            a=View("q", 0, 0, 4, 4),
            b=View("cache", 16, 0, 4, 4),
            finish=DeferredSoftmax(1.0, sums, Mask(causal=True, moving=moving)),
        )
        assert shape(graph(first, scores, context)) == [("a", set()), ("sc", needs)]


def test_neighbors_that_one_reads_but_that_need_something_else_are_apart():
    both = MatMul(
        name="e",
        out=View("e", 0, 0, 4, 4),
        a=View("c", 0, 0, 4, 4),
        b=View("d", 0, 0, 4, 4),
        finish=Requantize(1.0),
    )
    ops = [product("a", "x", "a"), product("c", "a", "c"), product("d", "x", "d"), both]
    assert shape(graph(*ops)) == [("a", set()), ("c", {0}), ("d", set()), ("e", {1, 2})]
