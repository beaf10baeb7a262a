"""Where two graphs differ: by how much, at the bound, and in what is no number."""

import numpy as np
import pytest

from celosia.lab.substitute.optimize import differing_floats
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType

GIVEN = {"x": np.array([[10_000.0, -2.0]], np.float32), "n": np.array([3, 4], np.int64)}


def shifted(by, integers=0):
    """Its outputs are its inputs, and what is added to them."""
    builder = GraphBuilder("shifted")
    x = builder.input("x", TensorType("float32", (1, 2)))
    n = builder.input("n", TensorType("int64", (2,)))
    row = builder.constant(np.array([0.0, by], np.float32))
    outputs = {"reals": builder.op("add", x, row)}
    outputs["whole"] = builder.op("add", n, builder.constant(np.array([0, integers])))
    return builder.finish(outputs)


@pytest.mark.parametrize("by", [0.0, 0.5, 1.0, -1.0])
def test_up_to_a_ten_thousandth_of_the_largest_element_is_rounding(by):
    assert differing_floats(shifted(0.0), shifted(by), GIVEN) is None


@pytest.mark.parametrize(("by", "told"), [(1.5, "1.5e-04"), (-100.0, "1.0e-02"), (np.nan, "nan")])
def test_more_is_a_difference_of_the_output_that_has_it(by, told):
    found = differing_floats(shifted(0.0), shifted(by), GIVEN)
    assert found == f"output reals differs by {told} of its largest element"


def test_each_integer_counts():
    found = differing_floats(shifted(0.0), shifted(0.0, integers=1), GIVEN)
    assert found is not None
    assert found.startswith("output whole differs by 1.0e+00")


def test_what_is_0_everywhere_differs_by_anything():
    nothing = {**GIVEN, "x": np.zeros((1, 2), np.float32)}
    assert differing_floats(shifted(0.0), shifted(0.0), nothing) is None
    assert differing_floats(shifted(0.0), shifted(1e-20), nothing) is not None
