"""Workers that die, and what becomes of their work."""

from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import count

import pytest

from celosia.sim.support import workers
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from celosia.sim.support.workers import Lane, Lost, Needs, local_lanes, parse_executor, run_on
from tests.support.mortal_work import Task, double
from tests.support.needy_work import Needy, nothing_stands, wait_for_another_kind

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


@dataclass
class Machines:
    """Workers that end each item at once, all of them before one is given the next.

    Items are named "A1", and need what "A" is; "-1" needs nothing.  Each letter of
    `places` is a worker at this place.
    """

    places: str
    standing: str = ""
    """What caches have at first: places and needs, "bA cB"."""
    moved: str = ""
    """The places whose caches have by then what items need, if not those of lanes: "A1c"."""
    at: str = ""
    """Where what is called is."""
    deadly: str = ""
    """Items whose worker ends."""
    given: list[str] = field(default_factory=list)
    """Places with the items that they are given."""

    def lanes(self):
        return [
            Lane(make=partial(AtOnce, self, place), place=place, ask=self.asker(place), attempts=2)
            for place in self.places
        ]

    def asker(self, place):
        def ask(function):
            self.at = place
            return function()

        return ask

    def needs(self):
        def of(item: str) -> tuple[str] | None:
            return None if item[0] == "-" else (item[0],)

        return Needs[str](of, lambda need: f"{self.at}{need}" in self.standing)

    def run(self, items):
        """Where each item went, round by round."""
        done = dict(run_on(self.lanes(), str.lower, items, self.needs()))
        assert done == {name: Lost(2) if name in self.deadly else name.lower() for name in done}
        assert set(done) == set(self.names())
        width = len(self.places)
        return [set(self.given[n : n + width]) for n in range(0, len(self.given), width)]

    def names(self):
        return [each[1:] for each in self.given]


@dataclass
class AtOnce(Executor):
    """Ends what it is given at once, at its place or where the machines have moved it."""

    machines: Machines
    place: str

    def submit(self, fn, /, *args, **kwargs):
        (item,) = args
        self.machines.given.append(f"{self.place}{item}")
        _, is_moved, other = self.machines.moved.partition(item)
        self.machines.at = other[0] if is_moved else self.place
        future = Future()
        if item in self.machines.deadly:
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(fn(item))
        return future


@pytest.fixture
def machines(monkeypatch):
    def make(*args, **options):
        made = Machines(*args, **options)
        monkeypatch.setattr(workers, "here", lambda: made.at)
        return made

    return make


def test_an_item_goes_to_a_place_that_has_what_it_needs(machines):
    assert machines("cb", "bA").run(iter(["A1"])) == [{"bA1"}]
    assert machines("bc", "bA cB").run(["B1", "A1", "A2"])[0] == {"bA1", "cB1"}


def test_two_places_do_not_make_the_same_while_others_wait(machines):
    first, *_ = machines("bc").run(["A1", "A2", "B1", "B2"])
    assert first == {"bA1", "cB1"}


def test_workers_of_one_place_make_different_things_first(machines):
    assert machines("bb").run(["A1", "A2", "B1", "B2"]) == [{"bA1", "bB1"}, {"bA2", "bB2"}]


def test_what_nobody_has_is_begun_while_others_do_what_they_have(machines):
    first, *_ = machines("bb", "bA").run(["A1", "A2", "A3", "B1"])
    assert first == {"bA1", "bB1"}


def test_who_has_less_to_do_makes_what_nobody_has(machines):
    first, *_ = machines("bc", "bA").run(["A1", "A2", "B1"])
    assert first == {"bA1", "cB1"}
    first, *_ = machines("bc", "bA cB cC").run(["A1", "A2", "A3", "B1", "C1", "D1"])
    assert first == {"bA1", "cD1"}


def test_what_nobody_has_is_made_before_what_another_place_has(machines):
    first, *_ = machines("dbc", "bA").run(["A1", "A2", "B1", "C1"])
    assert first == {"dB1", "bA1", "cC1"}


def test_what_another_place_has_is_made_while_what_is_made_here_is_not_there(machines):
    first, *_ = machines("bcc", "bA").run(["B1", "B2", "A1", "A2"])
    assert first == {"bA1", "cB1", "cA2"}


def test_nobody_waits_for_a_place_that_is_busy(machines):
    assert machines("bc", "bA").run(["A1", "A2", "A3"])[0] == {"bA1", "cA2"}


def test_an_answer_tells_where_what_it_needed_stands(machines):
    """The scheduler of a cluster may have moved it."""
    rounds = machines("bc", moved="A1c B1b").run(["A1", "B1", "A2", "B2"])
    assert rounds == [{"bA1", "cB1"}, {"bB2", "cA2"}]


def test_what_is_made_here_is_waited_for_rather_than_made_elsewhere_too(machines):
    first, *_ = machines("bbcc").run(["A1", "A2", "A3", "B1", "B2"])
    assert first == {"bA1", "cB1", "bA2", "cB2"}


def test_what_a_worker_made_that_ended_is_made_by_the_next(machines):
    """It is nobody's then, and so first; other items that need it come last while it is made."""
    rounds = machines("bb", deadly="A1").run(["A1", "B1", "B2", "A2", "B3", "B4"])
    assert rounds == [{"bA1", "bB1"}, {"bA1", "bB2"}, {"bA2", "bB3"}, {"bB4"}]


def test_places_that_items_suit_alike_get_as_many(machines):
    assert machines("bbcc", "bA cA").run(["A1", "A2"]) == [{"bA1", "cA2"}]


def test_items_that_need_nothing_suit_anybody(machines):
    first, *_ = machines("bc", "bA cA").run(["-1", "-2", "A1", "A2"])
    assert first == {"b-1", "c-2"}


def test_items_that_suit_alike_keep_their_order(machines):
    found = machines("bb", "bA bB")
    found.run(items := ["B1", "A1", "A2", "B2", "A3"])
    assert found.names() == items


def test_items_that_are_made_when_they_are_asked_for_are_not_looked_at_before():
    taken = []
    needs = Needs[int](lambda n: (n % 2,), lambda _: False)
    results = run_on(THREADS, str, (taken.append(n) or n for n in count()), needs)
    next(results)
    assert taken == [0, 1]
    results.close()


def test_where_a_tool_is_missing_work_says_so():
    def stands(_):
        raise EnvironmentProblem("no tool")

    assert list(run_on(THREADS, abs, [-1], Needs(lambda n: (n,), stands))) == [(-1, 1)]


def test_two_processes_begin_with_what_two_configurations_need(tmp_path):
    items = [Needy(kind, n, str(tmp_path)) for kind in "AB" for n in range(2)]
    needs = Needs[Needy](lambda item: (item.kind,), nothing_stands)
    results = run_on(local_lanes(2), wait_for_another_kind, items, needs)
    first, second = next(results), next(results)
    assert first[1]
    assert second[1]
    results.close()


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
