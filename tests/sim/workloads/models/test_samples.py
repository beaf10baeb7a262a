"""Samples in files: which say something of ranges, and which are refused."""

import numpy as np
import pytest

from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.samples import input_types, read_samples
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType


def graph():
    builder = GraphBuilder("g")
    x = builder.input("x", TensorType("float32", (2,)))
    builder.input("n", TensorType("int64", ()))
    return builder.finish({"y": builder.op("exp", x)})


X, N = np.array([[1, 2], [3, 4]], np.float32), np.array([5, 5])


@pytest.mark.parametrize("stored", [False, True])
def test_samples_stand_along_the_first_axis(stored, tmp_path):
    given = {"x": X, "n": N}
    if stored:
        np.savez(tmp_path / "s.npz", **given)
        assert input_types(tmp_path / "s.npz") == {
            "x": TensorType("float32", (2, 2)),
            "n": TensorType("int64", (2,)),
        }
    found = read_samples(tmp_path / "s.npz" if stored else given, graph())
    assert [(each["x"].tolist(), int(each["n"])) for each in found] == [([1, 2], 5), ([3, 4], 5)]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y": X}, "y is (2, 2); there are x of (samples, *(2,)), n of (samples, *())"),
        ({"x": X[:, :1]}, "x is (2, 1)"),
        ({"n": np.int64(3)}, "n is ()"),
        ({"x": X.astype(int)}, "x is of int64, not float32"),
        ({"x": X, "n": N[:1]}, "samples: one number, not 0, is needed"),
        ({"x": X[:0]}, "samples: one number, not 0, is needed"),
        ({"x": np.ones((3, 2), np.float32)}, "all its arrays are constant"),
        ({"x": np.ones((3, 2), np.float32), "n": np.zeros(3, int)}, "all its arrays are constant"),
    ],
)
def test_what_is_no_sample(given, message):
    with pytest.raises(InputError) as caught:
        read_samples(given, graph())
    assert message in str(caught.value)
    assert str(caught.value).startswith("calibration: ")


def test_one_number_is_no_constant():
    """A single sample of a single number cannot vary; one array that varies is enough."""
    assert len(read_samples({"n": np.array([7])}, graph())) == 1
    assert len(read_samples({"x": X, "n": N}, graph())) == 2
