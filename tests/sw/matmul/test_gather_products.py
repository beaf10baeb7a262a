"""Products in nests are the same products."""

from itertools import chain

from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.ir.program import Multiply
from celosia.sw.matmul.gather_products import gather_products

DIM = 4

STEPS = st.sampled_from([(4, 4, 0), (8, 4, 0), (0, 16, 4), (0, -4, 8), (0, 0, 0), (4, 4, 4)])
SIZES = st.sampled_from([DIM, DIM, DIM, 1])


def tile(a=0, w=0, c=0, depth=DIM, cols=DIM, *, accumulate=False, rows=2) -> Multiply:
    return Multiply(a=a, w=w, c=c, rows=rows, depth=depth, cols=cols, accumulate=accumulate)


@st.composite
def runs(draw) -> list[Multiply]:
    """Products whose steps stay the same for a while."""
    made, a, w, c = [], 100, 200, 300
    for _ in range(draw(st.integers(0, 5))):
        step = draw(STEPS)
        for _ in range(draw(st.integers(1, 5))):
            sizes = draw(SIZES), draw(SIZES)
            made.append(tile(a, w, c, *sizes, accumulate=draw(st.booleans())))
            a, w, c = a + step[0], w + step[1], c + step[2]
    return made


@given(runs())
def test_nests_have_the_products_in_order(products):
    nests = list(gather_products(products, DIM))
    assert list(chain.from_iterable(nest.each(DIM) for nest in nests)) == products


def test_neighbors_along_k_are_one():
    products = [tile(4 * k, 8 * k, 0, accumulate=k > 0) for k in range(3)]
    products.append(tile(12, 24, 0, depth=1, accumulate=True))
    (nest,) = gather_products(products, DIM)
    assert (nest.columns, nest.k, nest.a_k, nest.w_k, nest.last_depth) == (1, 4, 4, 8, 1)


def test_neighbors_across_columns_are_one():
    products = [tile(7, 4 * j, 2 * j, 3, accumulate=True) for j in range(3)]
    products.append(tile(7, 12, 6, 3, 2, accumulate=True))
    (nest,) = gather_products(products, DIM)
    assert (nest.columns, nest.k, nest.w_column, nest.c_column) == (4, 1, 4, 2)
    assert (nest.last_depth, nest.last_cols, nest.accumulate) == (3, 2, True)


def test_what_is_not_alike_begins_another():
    assert len([*gather_products([tile(), tile(4, 4, rows=1, accumulate=True)], DIM)]) == 2
    assert len([*gather_products([tile(depth=2), tile(4, 4, accumulate=True)], DIM)]) == 2
    assert len([*gather_products([tile(cols=2), tile(0, 4, 4)], DIM)]) == 2


def test_no_nest_is_longer_than_a_count():
    products = [tile(c=4 * j) for j in range(300)]
    assert [nest.columns for nest in gather_products(products, DIM)] == [255, 45]
