"""Stores found by bands of rows, as a search through all finds them; of equal ones the last."""

from hypothesis import given
from hypothesis import strategies as st

from celosia.sw.ir.graph import View
from celosia.sw.scheduling.stored import Stored

_VIEWS = st.builds(
    View,
    tensor=st.sampled_from("ab"),
    row=st.integers(0, 70),
    rows=st.integers(1, 40),
    col=st.integers(250, 260),
    cols=st.integers(1, 300),
)


@given(st.lists(_VIEWS, max_size=12), _VIEWS)
def test_as_a_search_through_all(views, wanted):
    stored = Stored()
    for number, view in enumerate(views, start=1):
        stored.add(view, number)
    last = {view: number for number, view in enumerate(views, start=1)}
    expected = {number for view, number in last.items() if view.meets(wanted)}
    assert stored.numbers(wanted) == expected
    assert stored.latest(wanted) == max(expected, default=0)


@given(st.lists(_VIEWS, max_size=12), _VIEWS)
def test_stores_of_moving_tensors_meet_every_view(views, wanted):
    stored = Stored(moving={"a"})
    for number, view in enumerate(views, start=1):
        stored.add(view, number)
    last = {view: number for number, view in enumerate(views, start=1)}
    expected = {
        number
        for view, number in last.items()
        if view.meets(wanted) or view.tensor == wanted.tensor == "a"
    }
    assert stored.numbers(wanted) == expected
    assert stored.latest(wanted) == max(expected, default=0)
