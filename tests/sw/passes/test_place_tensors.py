"""Addresses of tensors."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.ir.graph import TYPES, Tensor
from celosia.sw.passes.place_tensors import ALIGNMENT, place_tensors

shapes = st.tuples(st.sampled_from(TYPES), st.integers(1, 40), st.integers(1, 40))


@given(st.lists(shapes), st.integers(0, 100).map(lambda n: n * ALIGNMENT))
def test_tensors_stand_behind_each_other_aligned_and_apart(shapes, base):
    tensors = [Tensor(f"t{number}", *shape) for number, shape in enumerate(shapes)]
    addresses, end = place_tensors(tensors, base)
    assert list(addresses) == [tensor.name for tensor in tensors]
    assert all(address % ALIGNMENT == 0 for address in addresses.values())
    starts = [*addresses.values(), end]
    assert starts[0] == base
    for tensor, (start, behind) in zip(tensors, pairwise(starts), strict=True):
        assert tensor.bytes <= behind - start < tensor.bytes + ALIGNMENT


def test_no_tensors():
    assert place_tensors([], 64) == ({}, 64)
