"""Work for workers that may die at any time: nothing that ended is done again, nothing is lost.

What runs the work is a `concurrent.futures.Executor`: processes of this machine, or whatever else
has that interface (`celosia.sim.support.cluster`).
"""

import multiprocessing
import os
import platform
import re
import signal
import threading
from collections import Counter, deque
from collections.abc import (
    Callable,
    Generator,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice, product
from typing import Any, Final, Generic, TypeVar

from celosia.sim.support.cache import cache_directory
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.extras import import_extra
from celosia.sim.support.problems import InputError

__all__ = ["Lane", "Lost", "Needs", "here", "lanes_of", "local_lanes", "parse_executor", "run_on"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

MOST_WORKERS: Final = 1024
_ADDRESS: Final = re.compile(r"([a-z]+://)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):[0-9]{1,5}")
"""A scheduler's: its protocol if it is not TCP, its host, its port."""
_ATTEMPTS: Final = 5
"""Workers that one item may take with it."""

_Need = tuple[Hashable, ...]
_Ask = Callable[[Callable[[], Any]], Any]


@dataclass(frozen=True)
class Lost:
    """What stands in place of the result of an item whose worker ended each time."""

    attempts: int


@dataclass(frozen=True)
class Needs(Generic[_Item]):
    """What items need that takes long to make, and that stays in the cache of whoever made it."""

    of: Callable[[_Item], _Need | None]
    """What an item needs, as arguments of `stands`; None: nothing that takes long."""
    stands: Callable[..., bool]
    """Whether the cache of the process that calls it has that."""


def here() -> str:
    """Names this process's cache among those of all machines."""
    return f"{platform.node()}:{cache_directory()}"


def _at_once(function: Callable[[], Any]) -> Any:
    return function()


def _stop(executor: Executor) -> None:
    processes = getattr(executor, "_processes", None) or {}
    for process in list(processes.values()):
        process.terminate()
    executor.shutdown(wait=isinstance(executor, ProcessPoolExecutor), cancel_futures=True)


@dataclass(frozen=True, kw_only=True)
class Lane:
    """An executor that can be made again when it breaks."""

    make: Callable[[], Executor]
    width: int = 1
    """Items that it is given at once."""
    attempts: int = _ATTEMPTS
    """Times that an item may break it."""
    broken: tuple[type[BaseException], ...] = (BrokenExecutor,)
    """What a future raises whose worker has ended."""
    stop: Callable[[Executor], None] = _stop
    """Ends what an executor is doing, and leaves no process of this machine behind."""
    place: str = field(default_factory=here)
    """Names the cache of its workers: lanes of one place have one."""
    ask: _Ask = _at_once
    """Calls a function where that cache is, and returns its result; None: nobody answers."""


def parse_executor(text: str) -> tuple[str, str]:
    """``local:4`` as ``("local", "4")``.  Raises `InputError` for what is no executor."""
    kind, _, place = text.partition(":")
    if kind == "dask" and _ADDRESS.fullmatch(place) and int(place.rpartition(":")[2]) < 1 << 16:
        return kind, place
    if kind == "local" and place.isdecimal() and 1 <= int(place) <= MOST_WORKERS:
        return kind, place
    raise InputError(
        f"--executor {text}: write local:N, 1 to {MOST_WORKERS} processes of this machine, or "
        "dask:ADDRESS of a scheduler, such as dask:tcp://10.0.0.1:8786"
    )


@contextmanager
def lanes_of(executor: str) -> Iterator[Sequence[Lane]]:
    """What `--executor` names.  Raises `InputError`, or `EnvironmentProblem` if it is not there."""
    kind, place = parse_executor(executor)
    if kind == "local":
        yield local_lanes(int(place))
        return
    cluster = import_extra("celosia.sim.support.cluster", "cluster")
    with cluster.cluster_lanes(place) as lanes:
        yield lanes


def local_lanes(count: int) -> tuple[Lane, ...]:
    """So many processes of this machine, each on its own: one that dies takes nobody with it."""
    return (Lane(make=_process),) * count


def _process() -> Executor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), initializer=_serve)


def _serve() -> None:
    """A worker is ended by its parent, not by the keyboard, and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


def run_on(
    lanes: Iterable[Lane],
    function: Callable[[_Item], _Result],
    items: Iterable[_Item],
    needs: Needs[_Item] | None = None,
) -> Generator[tuple[_Item, _Result | Lost], None, None]:
    """Each item with its result, in the order in which they end.

    Items, which are hashable, are taken one by one as lanes become free; `items` may go on for
    ever.  Where they have `needs`, those of a sequence are looked at together: who becomes free is
    given the first of those that suit it best (`_Kind.rank`), and never none.  An item whose worker
    ends is given to another one, before those behind it, until its lane's patience is over.  What
    `function` raises is raised here.  Whoever closes it, or is interrupted, leaves no local process
    behind.
    """
    pool = _Pool(lanes, function, items, needs)
    try:
        yield from pool.results()
    except BaseException:
        pool.end()
        raise
    pool.close()


def _answer(function: Callable[[_Item], _Result], item: _Item) -> tuple[str, _Result]:
    """What a worker says: whose cache has by now what the item needs, and the item's result."""
    return here(), function(item)


def _standing(stands: Callable[..., bool], needs: Iterable[_Need]) -> set[_Need]:
    """The part of `needs` that stands in this process's cache."""
    found: set[_Need] = set()
    with suppress(EnvironmentProblem):  # A tool is missing: whoever makes one says so.
        found.update(need for need in needs if stands(*need))
    return found


@dataclass(eq=False)
class _Kind(Generic[_Item]):
    """Items that need the same."""

    places: set[str]
    """The places whose caches have it."""
    waiting: deque[tuple[int, _Item]] = field(default_factory=deque)
    """Items that no worker has, each behind its number among all."""
    under_way: list[str] = field(default_factory=list)
    """Where its other items are."""

    def rank(self, place: str, idlest: str) -> int:
        """How well an item suits a free worker of `place`: the less, the better.

        Best is what nobody has or makes yet, so that what else there is goes on meanwhile, if no
        place has less to do than this one; then what is there.  What is made elsewhere is last.
        """
        making = set(self.under_way) - self.places
        fresh = not self.places and not making
        best = fresh and place == idlest, place in self.places, fresh, not making, place in making
        return (*best, True).index(True)


class _Waiting(Generic[_Item]):
    """Items that wait for a worker.

    `asks` call a function where the cache of each place is.
    """

    def __init__(
        self,
        items: Iterable[_Item],
        needs: Needs[_Item] | None,
        asks: Mapping[str, _Ask],
    ):
        self._later = enumerate(items)
        self._needs = needs
        self._asks = asks
        self._kinds: dict[_Need | None, _Kind[_Item]] = {None: _Kind(set(asks))}
        if needs is not None and isinstance(items, Sequence):
            self._look(len(items))

    def _look(self, count: int) -> None:
        """Learn what further items need, and who has that."""
        of = self._needs.of if self._needs else lambda _: None
        found = [(of(item), number, item) for number, item in islice(self._later, count)]
        new = {need for need, _, _ in found if need is not None} - self._kinds.keys()
        self._kinds |= {need: _Kind(set()) for need in new}
        if self._needs and new:
            for place, ask in self._asks.items():
                for need in ask(partial(_standing, self._needs.stands, new)) or ():
                    self._kinds[need].places.add(place)
        for need, number, item in found:
            self._kinds[need].waiting.append((number, item))

    def best(self, free: Iterable[str]) -> tuple[str, _Kind[_Item]] | None:
        """Which of the `free` places is next, and a kind with an item for it; None: none is left.

        Of places that an item suits alike, the first one.
        """

        def merit(pair: tuple[str, _Kind[_Item]]) -> tuple[int, int]:
            place, kind = pair
            return kind.rank(place, idlest), kind.waiting[0][0]

        if not any(kind.waiting for kind in self._kinds.values()):
            self._look(1)
        kinds = [kind for kind in self._kinds.values() if kind.waiting]
        if not kinds:
            return None
        idlest = min(self._asks, key=lambda place: _to_do(place, kinds))
        return min(product(free, kinds), key=merit)


def _to_do(place: str, kinds: Iterable[_Kind[Any]]) -> int:
    """How many items wait whose needs a place has, or will have."""
    return sum(len(kind.waiting) for kind in kinds if place in {*kind.places, *kind.under_way})


@dataclass(frozen=True)
class _Run(Generic[_Item]):
    """An item that a worker has."""

    lane: int
    executor: Executor
    kind: _Kind[_Item]
    number: int
    item: _Item


class _Pool(Generic[_Item, _Result]):
    def __init__(
        self,
        lanes: Iterable[Lane],
        function: Callable[[_Item], _Result],
        items: Iterable[_Item],
        needs: Needs[_Item] | None,
    ):
        self._lanes = tuple(lanes)
        self._waiting = _Waiting(items, needs, {lane.place: lane.ask for lane in self._lanes})
        self._executors = [lane.make() for lane in self._lanes]
        self._function = partial(_answer, function)
        self._attempts: Counter[_Item] = Counter()
        self._running: dict[Future[tuple[str, _Result]], _Run[_Item]] = {}

    def results(self) -> Iterator[tuple[_Item, _Result | Lost]]:
        """Submit and collect until nothing is left."""
        self._fill()
        while self._running:
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                run = self._running.pop(future)
                run.kind.under_way.remove(self._lanes[run.lane].place)
                try:
                    place, result = future.result()
                except self._lanes[run.lane].broken:
                    self._mend(run.lane, run.executor)
                    if not self._suspect(run):
                        yield run.item, Lost(self._attempts[run.item])
                else:
                    run.kind.places.add(place)
                    yield run.item, result
            self._fill()

    def _fill(self) -> None:
        """Give each lane as many items as it takes."""
        busy = Counter(run.lane for run in self._running.values())
        free: dict[str, deque[int]] = {}
        for number, lane in enumerate(self._lanes):
            if room := lane.width - busy[number]:
                free.setdefault(lane.place, deque()).extend([number] * room)
        # The place that has most room is first, where several suit.
        while free and (
            best := self._waiting.best(sorted(free, key=lambda place: -len(free[place])))
        ):
            place, kind = best
            self._submit(free[place].popleft(), kind)
            if not free[place]:
                del free[place]

    def _submit(self, lane: int, kind: _Kind[_Item]) -> None:
        """Give a lane the next item of a kind."""
        number, item = kind.waiting.popleft()
        executor = self._executors[lane]
        try:
            future = executor.submit(self._function, item)
        except BrokenExecutor:  # Its process died while it had nothing to do.
            executor = self._mend(lane, executor)
            future = executor.submit(self._function, item)
        kind.under_way.append(self._lanes[lane].place)
        self._running[future] = _Run(lane, executor, kind, number, item)

    def _mend(self, number: int, broken: Executor) -> Executor:
        """The executor of a lane, made again if this `broken` one is still in its place."""
        if self._executors[number] is broken and isinstance(broken, ProcessPoolExecutor):
            broken.shutdown(wait=False)
            self._executors[number] = self._lanes[number].make()
        return self._executors[number]

    def _suspect(self, run: _Run[_Item]) -> bool:
        """Whether an item whose worker has ended is tried again."""
        self._attempts[run.item] += 1
        again = self._attempts[run.item] < self._lanes[run.lane].attempts
        if again:
            run.kind.waiting.appendleft((run.number, run.item))
        return again

    def close(self) -> None:
        """Let all executors go; nothing runs any more."""
        for executor in self._executors:
            executor.shutdown()

    def end(self) -> None:
        """Stop what runs, and leave no process behind."""
        for lane, executor in zip(self._lanes, self._executors, strict=True):
            lane.stop(executor)
