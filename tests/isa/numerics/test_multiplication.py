"""Products of two int16 against Python, at their extremes and between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.numerics import multiply
from tests.support import integer_reference as reference

INT16 = st.integers(-(1 << 15), (1 << 15) - 1) | st.sampled_from([-(1 << 15), -1, (1 << 15) - 1])
SCALES = st.floats(-(2.0**-12), 2.0**-12, width=32)


@given(a=INT16, b=INT16, scale=SCALES, zero_point=st.integers(0, 255))
def test_a_product_agrees_with_python(a, b, scale, zero_point):
    bits = int(np.float32(scale).view(np.uint32))
    for kind, zero in (("int8", 0), ("uint8", zero_point), ("int16", 0)):
        got = multiply([a], [b], np.float32(scale), kind, zero_point=zero)
        assert got.dtype == kind
        assert got.tolist() == [reference.multiply(a, b, bits, kind, zero)]


def test_the_largest_product_fits():
    assert multiply(-32768, -32768, 2.0**-16, np.int16) == 1 << 14


def test_swiglu_is_near_the_real_one():
    """int16 of 13 fraction bits add next to nothing to the rounding of the result."""
    random = np.random.default_rng(0)
    gate, up = random.normal(0, 1, (2, 4096)).clip(-3.9, 3.9)
    step = np.abs(gate * up).max() / 127
    a, b = (np.rint(x * 2**13).astype(np.int16) for x in (gate, up))
    got = multiply(a, b, 2.0**-26 / step, np.int8) * step
    noise = np.square(got - gate * up).sum()
    assert np.abs(got - gate * up).max() <= 0.51 * step
    assert 10 * np.log10(np.square(gate * up).sum() / noise) > 30


@pytest.mark.parametrize("pair", [(1 << 15, 0), (0, -(1 << 15) - 1)])
def test_wider_operands_are_refused(pair):
    with pytest.raises(ValueError, match=r"^multiply: -?3276[89] is not in -32768\.\.32767$"):
        multiply(pair[0], pair[1], 1.0, np.int16)
