"""Cuts of extents."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.planning.extents import even_cuts, even_sizes, full_sizes, in_order, tiles

extents = st.integers(1, 500)


@given(extents, extents, st.integers(1, 40))
def test_parts_cover_the_extent_in_order_and_none_is_too_long(extent, most, multiple):
    cuts = list(even_cuts(extent, most, multiple))
    position = 0
    for start, length in cuts:
        assert start == position
        assert 1 <= length <= most
        position += length
    assert position == extent


@given(extents, extents, st.integers(1, 40))
def test_all_but_the_last_are_multiples_where_they_can_be(extent, most, multiple):
    if multiple <= most:
        for _, length in list(even_cuts(extent, most, multiple))[:-1]:
            assert length % multiple == 0


@given(extents, extents)
def test_parts_are_few_and_nearly_equal(extent, most):
    lengths = [length for _, length in even_cuts(extent, most)]
    assert len(lengths) == tiles(extent, most)
    assert max(lengths) - min(lengths[:-1] or lengths) == 0
    assert max(lengths) * (len(lengths) - 1) < extent


@pytest.mark.parametrize(
    ("extent", "size", "count"), [(1, 4, 1), (4, 4, 1), (5, 4, 2), (8, 4, 2), (0, 4, 0)]
)
def test_tiles(extent, size, count):
    assert tiles(extent, size) == count


def test_a_multiple_larger_than_the_longest_part_is_left_out():
    assert list(even_cuts(10, 3, 4)) == [(0, 3), (3, 3), (6, 3), (9, 1)]


def test_sizes_are_those_of_the_parts():
    assert even_sizes(10, 4) == (4, 4, 2)
    assert even_sizes(9, 8, 4) == (8, 1)


def test_only_the_last_of_full_sizes_may_be_short():
    assert full_sizes(10, 4) == [4, 4, 2]
    assert full_sizes(8, 4) == [4, 4]
    assert full_sizes(3, 4) == [3]


def test_parts_in_order_begin_where_the_one_before_ends():
    assert list(in_order((4, 1, 3))) == [(0, 4), (4, 1), (5, 3)]
    assert list(in_order(())) == []
