"""How many products a statement is computed by, and what is said of more."""

import pytest

from celosia.sw.frontend.expressions.nodes import Axis, ExpressionError
from celosia.sw.frontend.expressions.operands import MOST_PRODUCTS, points_of


@pytest.mark.parametrize("extents", [(256,), (16, 16), (1, 2, 128), (3, 5), ()])
def test_products_are_counted_by_all_points_of_their_axes(extents):
    axes = tuple(Axis(f"b{n}", extent) for n, extent in enumerate(extents))
    points = points_of(axes)
    places = {tuple(point[axis] for axis in axes) for point in points}
    count = 1
    for extent in extents:
        count *= extent
    assert len(points) == len(places) == count
    assert all(
        0 <= at < extent for place in places for at, extent in zip(place, extents, strict=True)
    )


@pytest.mark.parametrize("extents", [(257,), (2, 129), (4096, 4096)])
def test_more_products_than_a_page_has_room_for_are_refused(extents):
    axes = tuple(Axis(f"b{n}", extent) for n, extent in enumerate(extents))
    assert MOST_PRODUCTS == 256
    with pytest.raises(ExpressionError, match=r"^b0.*: both factors .*, more than 256$"):
        points_of(axes)
