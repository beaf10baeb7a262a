"""What moves elements: which sizes fit, at both ends, and where each element lands."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.operators.table import OPERATORS
from tests.support.float_operators import computed, refused, result_of, tensor

ROWS = np.arange(12.0, dtype=np.float32).reshape(3, 4)


@pytest.mark.parametrize(
    ("source", "shape", "found"),
    [
        ("float32[2x3]", (6,), "float32[6]"),
        ("float32[]", (), "float32[]"),
        ("float32[]", (1, 1), "float32[1x1]"),
        ("int8[0x3]", (5, 0), "int8[5x0]"),
    ],
)
def test_a_shape_of_as_many_elements_fits(source, shape, found):
    assert result_of("reshape", source, shape=shape) == found


@pytest.mark.parametrize(
    ("source", "shape"),
    [("float32[2x3]", (5,)), ("float32[2x3]", (-2, -3)), ("float32[]", (0,)), ("float32[0]", ())],
)
def test_a_shape_of_other_elements_does_not_fit(source, shape):
    refused(f"{source} has not the elements of shape {shape}", "reshape", source, shape=shape)


def test_an_order_names_each_axis_once():
    assert result_of("transpose", "bool[2x3x4]", permutation=(2, 0, 1)) == "bool[4x2x3]"
    assert result_of("transpose", "bool[]", permutation=()) == "bool[]"
    for order in ((0, 0, 1), (0, 1), (0, 1, 3), (-1, 0, 1)):
        refused("does not name the axes", "transpose", "bool[2x3x4]", permutation=order)


@pytest.mark.parametrize(
    ("source", "shape"),
    [
        ("float32[3]", (2, 3)),
        ("float32[1x3]", (5, 3)),
        ("float32[2x1x3]", (2, 4, 3)),
        ("float32[]", (2, 2)),
        ("float32[1]", (0,)),
        ("float32[]", ()),
    ],
)
def test_sizes_of_one_and_new_first_axes_are_repeated(source, shape):
    value = np.arange(tensor(source).size, dtype=np.float32).reshape(tensor(source).shape)
    found = computed("broadcast", value, shape=shape)
    np.testing.assert_array_equal(found, value + np.zeros(shape, np.float32))


@pytest.mark.parametrize(
    ("source", "shape"),
    [
        ("float32[3]", (3, 2)),
        ("float32[2x3]", (3,)),
        ("float32[2x3]", (4, 3)),
        ("float32[2x3]", (2, 4)),
        ("float32[1x1]", (4,)),
    ],
)
def test_other_sizes_are_not_repeated(source, shape):
    refused(f"{source} does not broadcast to shape {shape}", "broadcast", source, shape=shape)


@pytest.mark.parametrize(
    ("start", "size", "step"),
    [(0, 4, 1), (3, 1, 9), (3, 4, -1), (3, 3, -1), (0, 1, -1), (3, 2, -3), (0, 2, 3), (0, 0, 1)],
)
def test_a_slice_has_every_step_th_element_from_its_start(start, size, step):
    found = computed("slice", ROWS, starts=(1, start), sizes=(2, size), steps=(1, step))
    wanted = [[4 * row + start + place * step for place in range(size)] for row in (1, 2)]
    np.testing.assert_array_equal(found, np.reshape(wanted, (2, size)))


@pytest.mark.parametrize(
    ("start", "size", "step", "message"),
    [
        (4, 1, 1, "elements 4 to 4 are not in 0..3"),
        (-1, 1, 1, "elements -1 to -1 are not in 0..3"),
        (1, 4, 1, "elements 1 to 4 are not in 0..3"),
        (0, 3, 2, "elements 0 to 4 are not in 0..3"),
        (2, 4, -1, "elements 2 to -1 are not in 0..3"),
        (0, 2, 0, "has size 2 and step 0"),
        (0, -1, 1, "has size -1 and step 1"),
    ],
)
def test_a_slice_outside_of_an_axis_is_refused(start, size, step, message):
    places = {"starts": (start, 0), "sizes": (size, 1), "steps": (step, 1)}
    refused(f"axis 0: {message}" if "to" in message else message, "slice", "int8[4x4]", **places)
    behind = {name: pair[::-1] for name, pair in places.items()}
    refused(f"axis 1: {message}" if "to" in message else message, "slice", "int8[4x4]", **behind)


def test_a_slice_is_of_all_axes_and_turns_none_if_it_is_idle():
    for name in ("starts", "sizes", "steps"):
        places = {"starts": (0, 0), "sizes": (1, 1), "steps": (1, 1)} | {name: (1,)}
        refused("are not of 2 axes", "slice", "int8[4x4]", **places)
    idle = OPERATORS["slice"].idle
    assert idle is not None
    assert [idle({"steps": steps}, tensor("int8[1]")) for steps in ((1, 1), (), (1, -1))] == [
        True,
        True,
        False,
    ]


def test_operands_stand_one_behind_the_other_along_an_axis():
    found = computed("concat", ROWS, ROWS[:, :1], axis=1)
    np.testing.assert_array_equal(found, np.hstack([ROWS, ROWS[:, :1]]))
    assert result_of("concat", "int8[2x3]", "int8[0x3]", "int8[4x3]", axis=0) == "int8[6x3]"
    for second, third, axis in (
        ("int8[2x4]", "int8[2x3]", 0),
        ("int8[2x3]", "int8[2x4]", 0),
        ("int8[2x3x1]", "int8[2x3]", 1),
        ("int8[3x3]", "int8[2x3]", 1),
    ):
        refused("differ in another axis", "concat", "int8[2x3]", second, third, axis=axis)
    refused("axis 2 is not in 0..1", "concat", "int8[2x3]", "int8[2x3]", axis=2)
    refused("axis -1 is not in 0..1", "concat", "int8[2x3]", "int8[2x3]", axis=-1)
    refused("different types", "concat", "int8[2]", "int16[2]", axis=0)


def test_a_pad_stands_before_and_behind():
    found = computed("pad", ROWS, np.float32(7), before=(1, 0), after=(0, 2))
    wanted = np.full((4, 6), 7, np.float32)
    wanted[1:, :4] = ROWS
    np.testing.assert_array_equal(found, wanted)
    assert computed("pad", np.int8(3), np.int8(1), before=(), after=()) == 3
    for before, after in (((1,), (1, 1)), ((1, 1), (1,)), ((-1, 0), (0, 0)), ((0, 0), (0, -1))):
        refused("are no sizes of 2 axes", "pad", "int8[2x2]", "int8[]", before=before, after=after)
    refused("its value is no scalar but int8[1]", "pad", "int8[2]", "int8[1]", before=(), after=())


def test_places_of_a_table_take_the_place_of_its_axis():
    places = np.array([[2, 0], [-1, 1]])
    for axis in (0, -1):
        found = computed("gather", ROWS[:, :3], places, axis=axis)
        table = ROWS[:, :3] if axis == 0 else ROWS[:, :3].T
        wanted = np.stack([np.stack([table[place] for place in row]) for row in places])
        np.testing.assert_array_equal(found, wanted if axis == 0 else np.moveaxis(wanted, 2, 0))
    assert result_of("gather", "int8[2x3x4]", "int32[]", axis=1) == "int8[2x4]"
    refused("its indices are int8", "gather", "int8[2]", "int8[1]", axis=0)
    refused("axis 1 is not in -1..0", "gather", "int8[2]", "int64[1]", axis=1)


@pytest.mark.parametrize(
    ("by", "updates", "wanted"),
    [
        ("add", [2, 3, 4], [4, 11]),
        ("mul", [2, 3, 4], [3, 40]),
        ("max", [2, 0, 9], [1, 9]),
        ("min", [7, 3, 4], [1, 4]),
    ],
)
def test_updates_of_one_place_are_combined_with_what_is_there(by, updates, wanted):
    held, places = np.array([1, 5, 8], np.float32), np.array([[1], [0], [1]])
    found = computed("scatter", held, places, np.array(updates, np.float32), by=by)
    np.testing.assert_array_equal(found, [*wanted, 8])
    assert held[1] == 5


def test_updates_of_places_of_two_axes():
    found = computed(
        "scatter", ROWS, np.array([[0, 3], [2, 1]]), np.array([-1, -2], np.float32), by="none"
    )
    assert (found[0, 3], found[2, 1], (found != ROWS).sum()) == (-1, -2, 2)


def test_what_cannot_be_scattered():
    ops = ("int8[3x4]", "int64[2x1]", "int8[2x4]")
    assert result_of("scatter", *ops, by="none") == "int8[3x4]"
    assert result_of("scatter", "int8[3x4]", "int32[5x2]", "int8[5]", by="none") == "int8[3x4]"
    refused("by: 'sum' is unknown", "scatter", *ops, by="sum")
    refused("not of shape (2, 4)", "scatter", *ops[:2], "int8[2]", by="none")
    refused("not of shape (2,)", "scatter", ops[0], "int64[2x2]", "int8[2x4]", by="none")
    refused("index more axes", "scatter", ops[0], "int64[2x3]", "int8[2]", by="none")
    refused("are a scalar", "scatter", ops[0], "int64[]", "int8[4]", by="none")
    refused("its indices are uint8", "scatter", ops[0], "uint8[2x1]", ops[2], by="none")


def test_a_cache_takes_rows_up_to_its_end():
    found = computed("cache", ROWS, -ROWS[:2], first=1)
    np.testing.assert_array_equal(found, np.concatenate([ROWS[:1], -ROWS[:2]]))
    assert result_of("cache", "float32[5x3]", "float32[2x3]", first=3) == "float32[5x3]"
    assert result_of("cache", "float32[5x3]", "float32[5x3]", first=0) == "float32[5x3]"
    refused("rows 4 to 5 are not in", "cache", "float32[5x3]", "float32[2x3]", first=4)
    refused("rows -1 to 0 are not in", "cache", "float32[5x3]", "float32[2x3]", first=-1)
    refused("are not rows of two axes", "cache", "float32[5]", "float32[5]", first=0)
    refused("are not rows of two axes", "cache", "float32[5x3]", "float32[2x3x1]", first=0)
    refused("it is not for int8", "cache", "int8[5x3]", "int8[2x3]", first=0)
