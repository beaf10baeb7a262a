"""Notes on inputs that calibration has not seen, and on calibrations of few rows."""

import numpy as np
import pytest

from celosia.sim.workloads.models.input_ranges import far_outside, few_rows, input_ranges
from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.quantize.units.find_units import find_units

KINDS = {"x": TensorType("float32", (2,)), "ids": TensorType("int64", (2,))}


def sample(*numbers):
    return {"x": np.array(numbers, np.float32), "ids": np.array([0, 9])}


def test_ranges_are_those_of_all_samples_without_what_hides():
    found = input_ranges(KINDS, [sample(-1, 2), sample(-np.inf, 5)])
    assert found == {"x": (-1, 5)}
    assert input_ranges(KINDS, [sample(-np.inf, -np.inf)]) == {}


@pytest.mark.parametrize(
    ("numbers", "far"),
    [
        ((-4, 4), None),
        ((-4.1, 4), None),
        ((-6.9, 0), "in -6.9..0, those of the calibration in -4..4: outside of that by 0.4 times"),
        (
            (0, -12),
            "in -12..0, those of the calibration in -4..4: outside of that by 1.0 times its",
        ),
        ((40, 0), "in 0..40, those of the calibration in -4..4: outside of that by 4.5 times its"),
        ((-np.inf, 1), None),
    ],
)
def test_what_is_far_outside_is_said_with_how_far(numbers, far):
    notes = list(far_outside({"x": (-4.0, 4.0)}, sample(*numbers)))
    assert bool(notes) == bool(far)
    assert all(note.startswith("x: its elements are ") and str(far) in note for note in notes)


@pytest.mark.parametrize(("larger", "far"), [(1.0, False), (1.2, False), (1.7, True)])
def test_many_elements_a_little_outside_are_far(larger, far):
    """A normal distribution whose calibration ended at four deviations.

    1.7 times as wide, it keeps 24 dB once it is cut off there.
    """
    rng = np.random.default_rng(1)
    given = {"x": np.clip(rng.normal(size=10_000), -4, 4) * larger}
    assert bool([*far_outside({"x": (-4.0, 4.0)}, given)]) == far


def test_a_range_of_one_number_has_no_width():
    (note,) = far_outside({"x": (0.0, 0.0)}, sample(0, 3))
    assert "in 0..0: outside of that by 3," in note


def graph(columns, rows=4):
    builder = GraphBuilder("dense")
    x = builder.input("x", TensorType("float32", (1, rows, columns)))
    builder.input("mask", TensorType("int64", (1, rows)))
    with builder.origin("/dense (MatMul)"):
        y = builder.op("matmul", x, builder.constant(np.ones((columns, 3), np.float32)))
    return builder.finish({"y": y})


def notes(columns, samples, shown=4, masks=()):
    made = graph(columns)
    mask = (np.arange(4) < shown).astype(np.int64)[None]
    return list(few_rows(made, find_units(made), masks, samples * [{"mask": mask}]))


def test_few_rows_are_told_with_the_product_that_lacks_the_most():
    (note,) = notes(32, 6)
    assert note.startswith("few rows of calibration: 24 for the 32 columns of /dense (MatMul):")
    assert "with 128 or more" in note
    assert not notes(32, 32)
    assert not notes(32, 100)
    assert "with 200 or more" in notes(100, 49)[0]
    assert not notes(100, 50)
    assert not notes(4096, 128), "some hundred do for wide products, too"


@pytest.mark.parametrize("columns", [(40, 100, 60), (100, 40, 60), (40, 60, 100)])
def test_of_several_products_the_one_that_lacks_the_most_is_named(columns):
    """128 rows are the least that any needs, and 200 are two for each of 100 columns."""
    builder = GraphBuilder("three")
    outputs = {}
    for count in columns:
        x = builder.input(f"x{count}", TensorType("float32", (1, 4, count)))
        with builder.origin(f"/{count} (MatMul)"):
            y = builder.op("matmul", x, builder.constant(np.ones((count, 3), np.float32)))
        outputs[f"y{count}"] = y
    made = builder.finish(outputs)
    (note,) = few_rows(made, find_units(made), (), 10 * [{}])
    assert note.startswith("few rows of calibration: 40 for the 100 columns of /100 (MatMul):")
    assert "with 200 or more" in note


def test_hidden_tokens_are_no_rows_of_calibration():
    assert not notes(32, 32, shown=3)
    (note,) = notes(32, 32, shown=3, masks=("mask",))
    assert "96 for the 32 columns" in note
