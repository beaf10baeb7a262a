"""What is written later, and in which order."""

import pytest

from celosia.sw.ir.graph import View
from celosia.sw.ir.program import LocalRows, Space
from celosia.sw.lowering.agenda import Agenda, Item


def rows(first: int) -> LocalRows:
    return LocalRows(Space.ACCUMULATOR, first, 4, 2, 4)


@pytest.fixture
def written() -> list[str]:
    return []


@pytest.fixture
def agenda(written) -> Agenda:
    """Two drains, a normalization, a drain, a normalization."""
    agenda = Agenda()
    for number, (name, drains) in enumerate([
        ("d0", rows(0)),
        ("d1", rows(100)),
        ("n2", None),
        ("d3", rows(200)),
        ("n4", None),
    ]):
        agenda.add(
            Item(
                write=lambda name=name: written.append(name),
                results=(View("y", number, 0, 1, 8),),
                clock=10 * number,
                drains=drains,
                slots=range(10 * number, 10 * number + 4),
            )
        )
    return agenda


def test_drains_come_before_normalizations_whose_time_has_come(agenda, written):
    for clock, name in ((0, "d0"), (9, None), (10, "d1"), (40, "d3"), (40, "n2"), (40, "n4")):
        before = len(written)
        agenda.write_due(clock)
        assert written[before:] == ([] if name is None else [name])


def test_a_normalization_is_not_held_up_by_a_later_drain(agenda, written):
    for _ in range(3):
        agenda.write_due(20)
    assert written == ["d0", "d1", "n2"]


def test_a_normalization_behind_each_drain():
    written: list[str] = []
    agenda = Agenda()

    def put_down(name: str, drains: LocalRows | None, settling: int | None) -> None:
        item = Item(
            write=lambda: written.append(name),
            results=(),
            clock=0,
            drains=drains,
            settling=settling,
        )
        agenda.add(item)

    put_down("d0", rows(0), None)
    put_down("n0", None, 10)
    put_down("n1", None, 10)
    agenda.write_due(5)
    for clock in (14, 15, 40):
        agenda.write_due(clock)
    assert written == ["d0", "n0"], "the next one waits for a drain"
    put_down("d1", rows(100), None)
    for clock in (50, 59, 60, 61):
        agenda.write_due(clock)
    assert written == ["d0", "n0", "d1", "n1"]


def test_all(agenda, written):
    agenda.write_all()
    assert written == ["d0", "d1", "n2", "d3", "n4"]
    agenda.write_all()
    assert len(written) == 5


def test_normalizations_take_the_drains_before_them_along(agenda, written):
    agenda.write_normalizations()
    assert written == ["d0", "d1", "n2", "d3", "n4"]


@pytest.mark.parametrize(
    ("row", "names"),
    [(0, ["d0"]), (1, ["d0", "d1"]), (2, ["d0", "d1", "n2"]), (3, ["d0", "d1", "d3"]), (5, [])],
)
def test_results_that_somebody_needs(agenda, written, row, names):
    agenda.write_results(View("y", row, 4, 1, 1))
    assert written == names


@pytest.mark.parametrize(
    ("first", "names"), [(7, ["d0"]), (8, []), (100, ["d0", "d1"]), (193, ["d0", "d1", "d3"])]
)
def test_rows_that_somebody_needs(agenda, written, first, names):
    agenda.write_drains(rows(first))
    assert written == names


@pytest.mark.parametrize(
    ("slots", "names"),
    [
        (range(4, 10), []),
        (range(3, 5), ["d0"]),
        (range(13, 14), ["d0", "d1"]),
        (range(9, 11), ["d0", "d1"]),
        (range(20, 24), ["d0", "d1", "n2"]),
        (range(30, 31), ["d0", "d1", "d3"]),
        (range(99), ["d0", "d1", "n2", "d3", "n4"]),
    ],
)
def test_statistics_that_somebody_begins(agenda, written, slots, names):
    agenda.write_statistics(slots)
    assert written == names


def test_what_uses_no_statistics_is_never_in_the_way_of_them(written):
    agenda = Agenda()
    agenda.add(Item(write=lambda: written.append("d"), results=(), clock=0, drains=rows(0)))
    agenda.write_statistics(range(99))
    assert not written


@pytest.mark.parametrize(("first", "awaited"), [(7, True), (8, False), (93, True), (108, False)])
def test_sums_that_are_still_to_be_drained(agenda, written, first, awaited):
    assert agenda.awaits(rows(first)) == awaited
    agenda.write_all()
    assert not agenda.awaits(rows(first))


def test_an_item_may_need_others(written):
    agenda = Agenda()
    view = View("y", 0, 0, 1, 1)

    def first() -> None:
        agenda.write_results(view)
        written.append("first")

    for write, results in ((first, ()), (lambda: written.append("other"), (view,))):
        agenda.add(Item(write=write, results=results, clock=0))
    agenda.write_due(0)
    assert written == ["other", "first"]
