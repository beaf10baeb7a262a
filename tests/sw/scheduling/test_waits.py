"""The stores that loads wait for."""

from celosia.sw.ir.graph import View
from celosia.sw.ir.program import Load, LocalRows, Space, Store, Written
from celosia.sw.scheduling.waits import with_waits

ROWS = LocalRows(Space.SCRATCHPAD, 0, 4, 1, 4)


def view(tensor, row):
    return View(tensor, row, 0, 4, 4)


def written(op):
    return Written(op, "op")


def waits(*ops, times=None, **how):
    return [
        each.op.after
        for each in with_waits([written(op) for op in ops], times, **how)
        if isinstance(each.op, Load)
    ]


def store(row, tensor="x"):
    return Store(view(tensor, row), ROWS)


def load(row, tensor="x"):
    return Load(view(tensor, row), ROWS)


def test_a_load_waits_for_the_last_store_of_what_it_reads():
    assert waits(store(0), store(4), store(8), load(4), load(0), load(8)) == [2, 1, 3]
    assert waits(load(0), store(0), load(0)) == [0, 1]


def test_other_rows_and_tensors_are_not_waited_for():
    assert waits(store(0), store(8), load(4), load(0, "y")) == [0, 0]
    assert waits(store(0), load(2)) == [1]


def test_a_load_that_waits_at_all_waits_for_what_is_long_over():
    ops = store(0), store(4), store(8), load(0), load(4), load(8)
    early = [(0, 10), (10, 20), (20, 30), (9000, 9010), (9010, 9020), (9020, 9030)]
    assert waits(*ops, times=early) == [3, 2, 3]
    assert waits(*ops, times=[(0, 10), (10, 20), (8990, 9000), *early[3:]]) == [2, 2, 3]


def test_a_store_is_over_when_those_before_it_are():
    ops = store(0), store(4), store(8), load(0)
    assert waits(*ops, times=[(0, 10), (10, 8900), (20, 30), (9000, 9010)]) == [1]


def test_what_was_not_over_is_waited_for_again_if_it_is_needed_far_behind():
    """The second wait comes 1.5 times as long behind the first, and not for what nobody reads."""
    ops = store(0), store(4), store(8), load(0), load(32), load(32), load(4)
    times = [(each, each) for each in (0, 950, 1200, 1000, 2499, 2500, 9000)]
    assert waits(*ops, times=times, settled=1000, again=True) == [1, 0, 3, 2]
    assert waits(*ops, times=times, settled=1000) == [1, 0, 0, 3]
    assert waits(*ops[:-1], times=times[:-1], settled=1000, again=True) == [1, 0, 0]
