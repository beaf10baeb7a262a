"""Rotary embeddings in the forms of exporters, each proved by numbers."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.recognize.recognize import recognize

ROWS, WIDTH = 5, 8
SHAPE = (2, 3, ROWS, WIDTH)
STEPS = (1, 1, 1, 2)
ANGLES = np.arange(ROWS)[:, None] * 0.5 ** np.arange(WIDTH // 2)


def turned(builder, x):
    first, second = (
        builder.op("slice", x, starts=(0, 0, 0, at), sizes=(2, 3, ROWS, WIDTH // 2), steps=(1,) * 4)
        for at in (0, WIDTH // 2)
    )
    return first, second, builder.op("concat", builder.op("neg", second), first, axis=3)


def whole(builder, x, cosines, sines):
    _, _, other = turned(builder, x)
    return builder.op("add", builder.op("mul", x, cosines), builder.op("mul", other, sines))


def halves(builder, x, cosines, sines):
    first, second, _ = turned(builder, x)
    real = [builder.op("mul", first, cosines), builder.op("mul", second, sines)]
    other = [builder.op("mul", first, sines), builder.op("mul", second, cosines)]
    return builder.op("concat", builder.op("sub", *real), builder.op("add", *other), axis=3)


def neighbours(builder, x, odd_first=False):
    """The even and the odd columns, and the odd ones, negated, beside the even ones."""
    pairs = (*SHAPE[:-1], WIDTH // 2, 1)
    first, second = (
        builder.op("slice", x, starts=(0, 0, 0, at), sizes=(*SHAPE[:-1], WIDTH // 2), steps=STEPS)
        for at in (0, 1)
    )
    both = builder.op("neg", second), first
    both = [builder.op("reshape", each, shape=pairs) for each in both[:: -1 if odd_first else 1]]
    together = builder.op("concat", *both, axis=4)
    return first, second, builder.op("reshape", together, shape=SHAPE)


def paired(builder, x, cosines, sines, odd_first=False):
    """As GPT-J writes it."""
    _, _, other = neighbours(builder, x, odd_first)
    return builder.op("add", builder.op("mul", other, sines), builder.op("mul", x, cosines))


def falsely_paired(builder, x, cosines, sines):
    return paired(builder, x, cosines, sines, odd_first=True)


def paired_halves(builder, x, cosines, sines):
    """As it is written where neighbours are complex numbers."""
    pairs = builder.op("reshape", x, shape=(*SHAPE[:-1], WIDTH // 2, 2))
    sizes = (*SHAPE[:-1], WIDTH // 2, 1)
    first, second = (
        builder.op(
            "reshape",
            builder.op("slice", pairs, starts=(0, 0, 0, 0, at), sizes=sizes, steps=(1,) * 5),
            shape=sizes[:-1],
        )
        for at in (0, 1)
    )
    real = [builder.op("mul", first, cosines), builder.op("mul", second, sines)]
    other = [builder.op("mul", second, cosines), builder.op("mul", first, sines)]
    both = [builder.op("sub", *real), builder.op("add", *other)]
    both = [builder.op("reshape", each, shape=sizes) for each in both]
    return builder.op("reshape", builder.op("concat", *both, axis=4), shape=SHAPE)


def constants(builder, spoilt=False):
    tables = [np.tile(f(ANGLES), 2).astype(np.float32) for f in (np.cos, np.sin)]
    tables[1][3, 0] += 0.1 * spoilt
    return [builder.constant(table) for table in tables]


def repeated(builder, spoilt=False):
    """Each number of a table twice, side by side."""
    tables = [np.repeat(f(ANGLES), 2, axis=1).astype(np.float32) for f in (np.cos, np.sin)]
    tables[0][2, 1] += 0.1 * spoilt
    return [builder.constant(table) for table in tables]


def repeated_angles(builder, spoilt=False, way="concat"):
    """The same of angles that are the user's: stacked, broadcast or looked up."""
    angles = builder.input("angles", TensorType("float32", (2, 1, ROWS, WIDTH // 2)))
    pairs = builder.op("reshape", angles, shape=(2, 1, ROWS, WIDTH // 2, 1))
    if way == "concat":
        other = builder.op("neg", pairs) if spoilt else pairs
        both = builder.op("concat", pairs, other, axis=4)
        both = builder.op("reshape", both, shape=(2, 1, ROWS, WIDTH))
    elif way == "broadcast":
        both = builder.op("broadcast", pairs, shape=(2, 1, ROWS, WIDTH // 2, 2))
        both = builder.op("reshape", both, shape=(2, 1, ROWS, WIDTH))
    else:
        places = builder.constant(np.repeat(np.arange(WIDTH // 2), 2))
        both = builder.op("gather", angles, places, axis=-1)
    return [builder.op(name, both) for name in ("cos", "sin")]


def broadcast_angles(builder):
    return repeated_angles(builder, way="broadcast")


def gathered_angles(builder):
    return repeated_angles(builder, way="gather")


def half_constants(builder):
    return [builder.constant(f(ANGLES).astype(np.float32)) for f in (np.cos, np.sin)]


def computed(builder, spoilt=False):
    angles = builder.input("angles", TensorType("float32", (2, 1, ROWS, WIDTH // 2)))
    other = builder.op("neg", angles) if spoilt else angles
    both = builder.op("concat", angles, other, axis=3)
    two = builder.like(1.5, both)
    return [builder.op("mul", builder.op(name, both), two) for name in ("cos", "sin")]


def looked_up(builder):
    tables = constants(builder)
    places = builder.input("places", TensorType("int64", (2, 1, ROWS)))
    return [builder.op("gather", table, places, axis=0) for table in tables]


def graph(form, tables):
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", SHAPE))
    return builder.finish({"y": form(builder, x, *tables(builder))})


@pytest.mark.parametrize(
    ("form", "tables"),
    [
        (whole, constants),
        (whole, computed),
        (whole, looked_up),
        (halves, half_constants),
        (paired, repeated),
        (paired, repeated_angles),
        (paired, broadcast_angles),
        (paired, gathered_angles),
        (paired_halves, half_constants),
    ],
)
def test_a_rotation_is_recognized_and_stays_what_it_is(form, tables):
    before = graph(form, tables)
    after = recognize(before).graph
    assert [node.op for node in after.nodes].count("rotate") == 1
    random = np.random.default_rng(0)
    given = {
        name: random.integers(0, ROWS, kind.shape)
        if kind.dtype == "int64"
        else random.standard_normal(kind.shape, np.float32)
        for name, kind in before.inputs.items()
    }
    np.testing.assert_allclose(
        interpret(after, given)["y"], interpret(before, given)["y"], rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize(
    ("form", "tables"),
    [(whole, constants), (whole, computed), (paired, repeated), (paired, repeated_angles)],
)
def test_pairs_of_other_angles_are_no_rotation(form, tables):
    before = graph(form, lambda builder: tables(builder, spoilt=True))
    assert not any(node.op == "rotate" for node in recognize(before).graph.nodes)


@pytest.mark.parametrize(
    ("form", "tables"),
    [(whole, repeated), (paired, constants), (paired, computed), (falsely_paired, repeated)],
)
def test_pairs_of_columns_are_not_those_of_the_tables(form, tables):
    """Neighbours by the angles of halves, the other way round, and neighbours exchanged."""
    assert not any(node.op == "rotate" for node in recognize(graph(form, tables)).graph.nodes)


def columns_looked_up(builder):
    """Columns of tables in an order that only the file's user knows: halves need not be alike."""
    order = builder.input("order", TensorType("int64", (WIDTH,)))
    return [builder.op("gather", table, order, axis=1) for table in constants(builder)]


def joined_elsewhere(builder):
    """The same twice, but for each text of two, and not in halves of rows."""
    angles = builder.input("angles", TensorType("float32", (1, 1, ROWS, WIDTH)))
    both = builder.op("concat", angles, angles, axis=0)
    return [builder.op(name, both) for name in ("cos", "sin")]


@pytest.mark.parametrize("tables", [columns_looked_up, joined_elsewhere])
def test_tables_whose_halves_are_alike_by_chance_only_are_no_rotation(tables):
    """No rotation is found, and the graph computes the same for any angles."""
    before = graph(whole, tables)
    after = recognize(before).graph
    assert not any(node.op == "rotate" for node in after.nodes)
    random = np.random.default_rng(1)
    for order in (np.arange(WIDTH), np.zeros(WIDTH, np.int64), random.permutation(WIDTH)):
        given = {"x": random.standard_normal(SHAPE, np.float32), "order": order}
        given["angles"] = random.standard_normal((1, 1, ROWS, WIDTH), np.float32)
        given = {name: given[name] for name in before.inputs}
        np.testing.assert_allclose(
            interpret(after, given)["y"], interpret(before, given)["y"], rtol=1e-5, atol=1e-6
        )


def test_tokens_before_heads_are_rotated_behind_them():
    """As GPT-J has them: a table of tokens for all heads, which come last."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", SHAPE))
    tables = [np.repeat(f(ANGLES[:3]), 2, axis=1).astype(np.float32) for f in (np.cos, np.sin)]
    tables = [builder.constant(table.reshape(1, 3, 1, WIDTH)) for table in tables]
    before = builder.finish({"y": paired(builder, x, tables[0], tables[1])})
    after = recognize(before).graph
    (rotation,) = [node for node in after.nodes if node.op == "rotate"]
    assert rotation.type.shape == (2, ROWS, 3, WIDTH), "heads of tokens"
    given = {"x": np.random.default_rng(0).standard_normal(SHAPE, np.float32)}
    np.testing.assert_allclose(
        interpret(after, given)["y"], interpret(before, given)["y"], rtol=1e-5, atol=1e-6
    )


def partly(builder, x, first, count, *, left_out=0, beside=False):
    """`count` columns from `first` on rotated, and those around them as they are."""
    angles = ANGLES[:, : count // 2]
    angles = np.repeat(angles, 2, axis=1) if beside else np.tile(angles, 2)
    tables = [builder.constant(f(angles).astype(np.float32)) for f in (np.cos, np.sin)]

    def columns(of, start, size, step=1):
        where = {"starts": (0, 0, 0, start), "sizes": (2, 3, ROWS, size), "steps": (1, 1, 1, step)}
        return builder.op("slice", of, **where)

    part, half = columns(x, first, count), count // 2
    if beside:
        even, odd = (columns(part, at, half, 2) for at in (0, 1))
        both = [
            builder.op("reshape", each, shape=(2, 3, ROWS, half, 1))
            for each in (builder.op("neg", odd), even)
        ]
        other = builder.op("concat", *both, axis=4)
        other = builder.op("reshape", other, shape=(2, 3, ROWS, count))
    else:
        halves = columns(part, 0, half), columns(part, half, half)
        other = builder.op("concat", builder.op("neg", halves[1]), halves[0], axis=3)
    turned = [builder.op("mul", part, tables[0]), builder.op("mul", other, tables[1])]
    parts = [builder.op("add", *turned)]
    if first:
        parts = [columns(x, 0, first), *parts]
    if first + count < WIDTH - left_out:
        parts.append(columns(x, first + count, WIDTH - left_out - first - count))
    return builder.op("concat", *parts, axis=3)


@pytest.mark.parametrize("beside", [False, True], ids=["halves", "neighbours"])
@pytest.mark.parametrize(("first", "count"), [(0, 4), (0, 2), (4, 4), (2, 4)])
def test_columns_that_do_not_rotate_do_so_by_no_angle(first, count, beside):
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", SHAPE))
    before = builder.finish({"y": partly(builder, x, first, count, beside=beside)})
    after = recognize(before).graph
    assert [node.op for node in after.nodes] == ["gather", "rotate", "gather"]
    (rotation,) = [node for node in after.nodes if node.op == "rotate"]
    assert rotation.type.shape == SHAPE
    given = {"x": np.random.default_rng(0).standard_normal(SHAPE, np.float32)}
    np.testing.assert_allclose(
        interpret(after, given)["y"], interpret(before, given)["y"], rtol=1e-5, atol=1e-6
    )


def test_a_token_beside_others_is_no_rotation():
    """Its number is one without axes, and the axis that it is taken from has the last one's."""
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (2, ROWS, WIDTH)))
    first = builder.op("gather", x, builder.constant(np.array(0)), axis=1)
    last = builder.op("gather", x, builder.constant(np.array(ROWS - 1)), axis=1)
    before = builder.finish({"y": builder.op("concat", first, last, axis=1)})
    after = recognize(before)
    assert not after.faults
    given = {"x": np.random.default_rng(0).standard_normal((2, ROWS, WIDTH), np.float32)}
    np.testing.assert_array_equal(interpret(after.graph, given)["y"], interpret(before, given)["y"])


def test_a_rotation_of_some_columns_without_the_others_stays():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", SHAPE))
    before = builder.finish({"y": partly(builder, x, 0, 4, left_out=2)})
    found = [node.op for node in recognize(before).graph.nodes]
    assert "concat" in found
    assert "gather" not in found
