"""Random inputs are places of tables, masks that show all, and normal numbers."""

import numpy as np
import pytest

from celosia.sw.frontend.nn.builder import GraphBuilder
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.frontend.nn.random_inputs import random_inputs
from tests.support.quantized_exports import BATCH, TOKENS, recognized


def test_places_are_within_the_tables_and_masks_show_all():
    graph = recognized("bert-17")
    found = random_inputs(graph, ["attention_mask"], 3)
    assert found["input_ids"].shape == (BATCH, TOKENS)
    assert 32 < found["input_ids"].max() < 64
    assert set(np.unique(found["token_type_ids"])) == {0, 1}
    assert (found["attention_mask"] == 1).all()
    again = random_inputs(graph, ["attention_mask"], 3)
    assert all(np.array_equal(found[name], again[name]) for name in found)


def test_pictures_are_normal_numbers():
    picture = random_inputs(recognized("vit"), [], 1)["pixel_values"]
    assert picture.dtype == np.float32
    assert 0.9 < picture.std() < 1.1


def tables(*shapes, axis=0, through=()):
    """A graph that reads tables of these shapes at the places in one input, and has one beside."""
    builder = GraphBuilder("tables")
    places = builder.input("places", TensorType("int64", (20, 20)))
    builder.input("other", TensorType("int64", (20, 20)))
    builder.input("seen", TensorType("bool", (20, 20)))
    for op, attributes in through:
        places = builder.op(op, places, **attributes)
    outputs = {}
    for number, shape in enumerate(shapes):
        table = builder.constant(np.zeros(shape, np.float32))
        outputs[f"y{number}"] = builder.op("gather", table, places, axis=axis)
    return builder.finish(outputs)


@pytest.mark.parametrize(
    "through", [(), (("cast", {"to": "int32"}),), (("reshape", {"shape": (400,)}),)]
)
def test_places_are_those_of_the_shortest_table_that_is_read_at_them(through):
    found = random_inputs(tables((9, 2), (5, 3), (7, 1), through=through), [], 1)
    assert {*np.unique(found["places"])} == {*range(5)}


def test_places_of_an_axis_are_counted_along_it():
    found = random_inputs(tables((2, 9), axis=1), [], 1)
    assert {*np.unique(found["places"])} == {*range(9)}


def test_what_is_no_place_is_0_or_1_and_what_is_a_bool_shows_all():
    found = random_inputs(tables((9, 2)), [], 1)
    assert {*np.unique(found["other"])} == {0, 1}
    assert found["seen"].all()
    assert (random_inputs(tables((9, 2)), ["other"], 1)["other"] == 1).all()
    assert found["other"].dtype == np.int64
