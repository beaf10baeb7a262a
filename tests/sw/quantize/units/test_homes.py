"""Where what is appended to caches is written: there, in a tensor of its own, or row by row."""

import re

import numpy as np
import pytest

from celosia.sw.frontend.nn.operators.operator import GraphError
from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.homes import Home, find_homes
from celosia.sw.quantize.units.units import Append
from celosia.sw.quantize.units.values import Value


def append(cache: str, first: int, *parts: tuple[int, int, int, int]) -> Append:
    """Rows of a cache from `first` on are these parts of the value: row, column, rows, columns."""
    views = tuple(View("x", *part) for part in parts)
    return Append(value=Value(cache), cache=cache, first=first, parts=views, nodes=())


def homes(shape, *appends, sizes=(100, 8)):
    """Homes, where caches have so many rows and columns, and own tensors are named by them."""
    return [
        *find_homes(
            shape,
            appends,
            lambda each: View(each.cache, 0, 0, *sizes),
            lambda cols, first: View(f"own {cols} from {first}", 0, 0, shape[0], cols),
        )
    ]


def columns(found):
    return [home.columns.tolist() for home in found]


def test_what_nothing_appends_has_a_tensor_of_its_own():
    (home,) = homes((4, 6))
    assert home.columns.tolist() == [0, 1, 2, 3, 4, 5]
    assert (home.view, home.copies) == (View("own 6 from 0", 0, 0, 4, 6), ())


def test_columns_are_in_their_caches_and_the_others_apart():
    """Keys and values of two heads, of a value that has queries in front of them."""
    found = homes(
        (3, 12),
        append("k", 7, (0, 4, 3, 2), (0, 8, 3, 2)),
        append("v", 9, (0, 6, 3, 2), (0, 10, 3, 2)),
        sizes=(100, 4),
    )
    assert columns(found) == [[4, 5, 8, 9], [6, 7, 10, 11], [0, 1, 2, 3]]
    assert [home.view for home in found] == [
        View("k", 7, 0, 3, 4),
        View("v", 9, 0, 3, 4),
        View("own 4 from 0", 0, 0, 3, 4),
    ]
    assert not any(home.copies for home in found)


def test_rows_of_several_texts_are_copied_to_their_caches():
    """In the order of the rows of the value, whatever that of the appends."""
    found = homes(
        (3, 4), append("second", 5, (1, 0, 2, 4)), append("first", 2, (0, 0, 1, 4)), sizes=(9, 4)
    )
    (home,) = found
    assert home.view == View("own 4 from 0", 0, 0, 3, 4)
    assert home.copies == (
        View("first", 2, 0, 1, 4),
        View("second", 5, 0, 1, 4),
        View("second", 6, 0, 1, 4),
    )


@pytest.mark.parametrize(
    ("appends", "message"),
    [
        ([append("k", 0, (0, 0, 2, 4))], "k: rows are appended in part"),
        ([append("k", 0, (1, 0, 2, 4))], "k: rows are appended in part"),
        (
            [append("k", 0, (0, 0, 2, 4)), append("l", 0, (1, 0, 2, 4))],
            "k: rows are appended in part",
        ),
        (
            [append("k", 0, (0, 0, 3, 4)), append("l", 0, (0, 3, 3, 1))],
            "l: what is appended is in another cache, too",
        ),
    ],
)
def test_what_has_no_one_home(appends, message):
    with pytest.raises(GraphError, match=re.escape(message)):
        homes((3, 4), *appends)


@pytest.mark.parametrize(
    ("part", "found"),
    [
        ((0, 4, 3, 2), View("k", 7, 0, 3, 2)),
        ((1, 5, 2, 1), View("k", 8, 1, 2, 1)),
        ((0, 8, 3, 2), View("k", 7, 2, 3, 2)),
        ((0, 9, 3, 1), View("k", 7, 3, 3, 1)),
        # Columns 5 and 6 do not stand beside each other there, and 10 and 3 are elsewhere.
        ((0, 5, 3, 2), None),
        ((0, 9, 3, 2), None),
        ((0, 3, 3, 2), None),
        ((0, 10, 3, 1), None),
    ],
)
def test_where_a_rectangle_is(part, found):
    home = Home(np.array([4, 5, 8, 9]), View("k", 7, 0, 3, 4))
    assert home.part(View("x", *part)) == found
