"""Workers that die, and what becomes of their work."""

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from celosia.sim.support.problems import InputError
from celosia.sim.support.workers import Lane, Lost, local_lanes, parse_executor, run_on
from tests.support.mortal_work import Task, double

THREADS = (Lane(make=lambda: ThreadPoolExecutor(2), width=2),)


def test_work_of_a_worker_that_dies_is_done_by_another_and_no_other_again(tmp_path):
    tasks = [Task(n, str(tmp_path), deaths) for n, deaths in enumerate((0, 1, 9))]
    done = {task.number: result for task, result in run_on(local_lanes(2), double, tasks)}
    assert done == {0: 0, 1: 2, 2: Lost(5)}
    assert [task.begun() for task in tasks] == [1, 2, 5]


def test_items_are_taken_as_there_is_room_for_them():
    taken = []
    items = (taken.append(n) or n for n in count())
    results = run_on(THREADS, lambda n: n * n, items)
    assert next(results)[1] in (0, 1)
    assert taken == [0, 1]
    results.close()


def test_what_work_raises_is_raised():
    with pytest.raises(ZeroDivisionError):
        list(run_on(THREADS, lambda n: 1 // n, [0]))


def test_no_items_are_no_work():
    assert list(run_on(THREADS, abs, [])) == []


@pytest.mark.parametrize(
    "text",
    ["local", "local:0", "local:x", "local:9999", "dask:", "dask:here", "dask:a:99999", "ssh:a"],
)
def test_what_is_no_executor(text):
    with pytest.raises(InputError, match=f"--executor {text}: write local:N"):
        parse_executor(text)


def test_an_executor_has_a_place():
    assert parse_executor("local:8") == ("local", "8")
    assert parse_executor("dask:tcp://10.0.0.1:8786") == ("dask", "tcp://10.0.0.1:8786")
