"""Operators of the survey against sizes that a reader can multiply."""

from celosia.lab.survey.parts.operators import (
    ATTENTION,
    FFN,
    PROJECTION,
    Elementwise,
    Product,
    layer_operators,
    one_query,
)
from celosia.sw.reference.encoder import EncoderShape

SHAPE = EncoderShape(layers=3, width=8, heads=2, hidden=20)
TOKENS = 6
LAYER = {op.name: op for op in layer_operators(SHAPE, TOKENS)}


def product(name):
    op = LAYER[name]
    assert isinstance(op, Product)
    return op


def test_products_have_the_sizes_of_the_layer():
    sizes = {
        "query, key, value": (6, 8, 8, 3),
        "scores": (6, 6, 4, 2),
        "context": (6, 4, 6, 2),
        "output": (6, 8, 8, 1),
        "up": (6, 20, 8, 1),
        "down": (6, 8, 20, 1),
    }
    for name, size in sizes.items():
        op = product(name)
        assert (op.rows, op.cols, op.depth, op.count) == size


def test_products_have_groups_and_biases():
    groups = {name: product(name).group for name in ("output", "scores", "context", "up", "down")}
    assert list(groups.values()) == [PROJECTION, ATTENTION, ATTENTION, FFN, FFN]
    assert product("up").bias
    assert not product("scores").bias
    assert product("scores").flops == 2 * 6 * 6 * (2 * 4 - 1)
    assert product("up").flops == 6 * 20 * 2 * 8


def test_sums_are_wide_where_what_follows_is_not_linear():
    wide = {name for name, op in LAYER.items() if isinstance(op, Product) and op.wide}
    assert wide == {"scores", "output", "up", "down"}


def test_other_operators_are_added_up():
    sizes = {op.name: op.size for op in LAYER.values() if isinstance(op, Elementwise)}
    assert sizes == {"softmax": 72, "gelu": 120, "layernorm": 96, "residual": 96}
    norm, residual = LAYER["layernorm"], LAYER["residual"]
    assert norm.elements == 2 * 96 + 2 * 2 * 8
    assert residual.elements == 3 * 96


def test_one_query_is_a_row_of_each():
    found = {op.name: op for op in one_query(tuple(LAYER.values()), TOKENS)}
    scores, softmax = found["scores"], found["softmax"]
    assert isinstance(scores, Product)
    assert isinstance(softmax, Elementwise)
    assert (scores.rows, scores.cols) == (1, 6)
    assert softmax.size == 12
