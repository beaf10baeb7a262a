"""Samples of a file, and distances of outputs."""

import numpy as np
import pytest

from celosia.sim.run.model_run import distances, read_samples
from celosia.sim.support.problems import InputError
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType


def graph():
    builder = GraphBuilder("test")
    x = builder.input("x", TensorType("float32", (2, 3)))
    return builder.finish({"y": builder.op("neg", x)})


def test_samples_are_along_the_first_axis(tmp_path):
    values = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    np.savez(tmp_path / "c.npz", x=values)
    samples = read_samples(tmp_path / "c.npz", graph())
    assert len(samples) == 4
    assert np.array_equal(samples[2]["x"], values[2])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.zeros((2, 3))}, r"x is \(2, 3\); there are x of"),
        ({"z": np.zeros((1, 2, 3))}, "z is"),
        ({"x": np.zeros((0, 2, 3))}, "one number, not 0, is needed"),
        ({"x": np.full((4, 2, 3), 0.5)}, "all its arrays are constant"),
        ({"x": np.array([{}], object)}, "is no .npz file of arrays"),
    ],
)
def test_samples_of_another_shape_are_refused(tmp_path, arrays, message):
    np.savez(tmp_path / "c.npz", **arrays)
    with pytest.raises(InputError, match=message):
        read_samples(tmp_path / "c.npz", graph())


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04cut", b"no zip at all"])
def test_a_file_that_is_none_is_refused(tmp_path, content):
    path = tmp_path / "c.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"is no \.npz file of arrays"):
        read_samples(path, graph())


def test_distances_in_decibels_and_the_largest_of_logits():
    real = np.array([[3.0, 4.0], [0.0, 5.0]], np.float32)
    found = real + np.array([[0.5, 0.0], [0.0, 0.0]], np.float32)
    best = real + np.array([[0.25, 0.0], [0.0, 0.0]], np.float32)
    integers = {"n": np.ones(2, np.int64)}
    (far,) = distances({"logits": real, **integers}, {"logits": found}, {"logits": best})
    assert far.sqnr_db == pytest.approx(10 * np.log10(50 / 0.25))
    assert far.exact_sqnr_db == pytest.approx(10 * np.log10(50 / 0.0625))
    assert far.cosine == pytest.approx(0.99807, abs=1e-5)
    assert far.top1 == 1.0
    (same,) = distances({"y": real}, {"y": real}, {"y": real})
    assert (same.sqnr_db, same.cosine, same.top1) == (np.inf, pytest.approx(1), None)
