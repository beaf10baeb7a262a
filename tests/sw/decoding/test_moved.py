"""Steps of texts elsewhere: what is read is in another slot, what is written further on, too."""

from dataclasses import replace

import pytest

from celosia.sw.decoding.moved import moved
from celosia.sw.decoding.texts import CacheLayout, Place
from celosia.sw.ir.graph import DeferredSoftmax, Graph, Mask, MatMul, Requantize, Tensor, View

LAYOUT = CacheLayout(texts=3, capacity=40)
ROWS = LAYOUT.slot_rows


def whole(name: str, rows: int, cols: int) -> View:
    return View(name, 0, 0, rows, cols)


def head(number: int, place: Place) -> tuple[MatMul, MatMul]:
    """What appends two keys of a text, and the scores of its queries over all of its keys."""
    first = LAYOUT.first(place.slot)
    x, w = whole("x", 2, 8), whole("w", 8, 4)
    append = MatMul(
        name=f"append {number}",
        out=View("cache", first + place.context, 0, 2, 4),
        a=x,
        b=w,
        finish=Requantize(1.0),
    )
    mask = Mask(causal=True, first_row=place.context, moving=True)
    scores = MatMul(
        name=f"scores {number}",
        out=whole("n", 2, 30),
        a=whole("q", 2, 4),
        b=View("cache", first, 0, 30, 4),
        b_transposed=True,
        finish=DeferredSoftmax(1.0, View("s", 0, 0, 2, 1), mask),
    )
    return append, scores


def graph(*places: Place) -> Graph:
    tensors = {
        "cache": Tensor("cache", "int8", LAYOUT.rows, 4, cache=True),
        **{name: Tensor(name, "int8", 64, 64) for name in "xwqn"},
        "s": Tensor("s", "int32", 2, 1),
    }
    ops = tuple(op for number, place in enumerate(places) for op in head(number, place))
    return Graph(name="g", tensors=tensors, inputs=("cache",), outputs=(), ops=ops)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([Place(0, 10)], [Place(0, 9)]),
        ([Place(0, 10)], [Place(2, 10)]),
        ([Place(1, 10)], [Place(0, 4)]),
        ([Place(0, 10), Place(1, 20)], [Place(2, 7), Place(0, 20)]),
        ([Place(2, 10), Place(0, 20)], [Place(2, 10), Place(0, 19)]),
    ],
)
def test_a_step_elsewhere_is_what_would_have_been_built_there(before, after):
    found = moved(graph(*before), LAYOUT, before, after)
    assert found.ops == graph(*after).ops


def test_a_step_that_stays_is_itself_and_other_tensors_and_masks_stay():
    places = [Place(1, 10)]
    one = graph(*places)
    assert moved(one, LAYOUT, places, list(places)) is one
    append, scores = head(0, places[0])
    mask = Mask(causal=True, first_row=10)
    still = replace(scores, finish=DeferredSoftmax(1.0, View("s", 0, 0, 2, 1), mask))
    found = moved(replace(one, ops=(append, still)), LAYOUT, places, [Place(2, 8)])
    row = append.out.row + ROWS - 2
    assert found.ops == (
        replace(append, out=replace(append.out, row=row)),
        replace(still, b=replace(still.b, row=still.b.row + ROWS)),
    )
