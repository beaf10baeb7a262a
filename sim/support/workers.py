"""Work for workers that may die at any time: nothing that ended is done again, nothing is lost.

What runs the work is a `concurrent.futures.Executor`: processes of this machine, or whatever else
has that interface (`celosia.sim.support.cluster`).
"""

import multiprocessing
import os
import re
import signal
import threading
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from celosia.sim.support.extras import import_extra
from celosia.sim.support.problems import InputError

__all__ = ["Lane", "Lost", "lanes_of", "local_lanes", "parse_executor", "run_on"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

MOST_WORKERS: Final = 1024
_ADDRESS: Final = re.compile(r"([a-z]+://)?(\[[0-9a-fA-F:.]+\]|[\w.-]+):[0-9]{1,5}")
"""A scheduler's: its protocol if it is not TCP, its host, its port."""
_ATTEMPTS: Final = 5
"""Workers that one item may take with it."""


@dataclass(frozen=True)
class Lost:
    """What stands in place of the result of an item whose worker ended each time."""

    attempts: int


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
    with cluster.cluster_lane(place) as lane:
        yield (lane,)


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
    lanes: Iterable[Lane], function: Callable[[_Item], _Result], items: Iterable[_Item]
) -> Generator[tuple[_Item, _Result | Lost], None, None]:
    """Each item with its result, in the order in which they end.

    Items, which are hashable, are taken one by one as lanes become free; `items` may go on for
    ever.  An item whose worker ends is given to another one, first of all that is left, until its
    lane's patience is over.  What `function` raises is raised here.  Whoever closes
    it, or is interrupted, leaves no local process behind.
    """
    pool = _Pool(lanes, function, items)
    try:
        yield from pool.results()
    except BaseException:
        pool.end()
        raise
    pool.close()


class _Pool(Generic[_Item, _Result]):
    def __init__(
        self, lanes: Iterable[Lane], function: Callable[[_Item], _Result], items: Iterable[_Item]
    ):
        self._lanes = tuple(lanes)
        self._executors = [lane.make() for lane in self._lanes]
        self._function = function
        self._items = iter(items)
        self._again: deque[_Item] = deque()
        self._attempts: Counter[_Item] = Counter()
        self._running: dict[Future[_Result], tuple[int, Executor, _Item]] = {}

    def results(self) -> Iterator[tuple[_Item, _Result | Lost]]:
        """Submit and collect until nothing is left."""
        self._fill()
        while self._running:
            done, _ = wait(self._running, return_when=FIRST_COMPLETED)
            for future in done:
                number, executor, item = self._running.pop(future)
                try:
                    yield item, future.result()
                except self._lanes[number].broken:
                    self._mend(number, executor)
                    if not self._suspect(number, item):
                        yield item, Lost(self._attempts[item])
            self._fill()

    def _fill(self) -> None:
        """Give each lane as many items as it takes."""
        busy = Counter(number for number, _, _ in self._running.values())
        for number, lane in enumerate(self._lanes):
            for _ in range(busy[number], lane.width):
                if not self._submit(number):
                    return

    def _submit(self, number: int) -> bool:
        """Give a lane one more item; whether there was one."""
        try:
            item = self._again.popleft() if self._again else next(self._items)
        except StopIteration:
            return False
        executor = self._executors[number]
        try:
            future = executor.submit(self._function, item)
        except BrokenExecutor:  # Its process died while it had nothing to do.
            executor = self._mend(number, executor)
            future = executor.submit(self._function, item)
        self._running[future] = number, executor, item
        return True

    def _mend(self, number: int, broken: Executor) -> Executor:
        """The executor of a lane, made again if this `broken` one is still in its place."""
        if self._executors[number] is broken and isinstance(broken, ProcessPoolExecutor):
            broken.shutdown(wait=False)
            self._executors[number] = self._lanes[number].make()
        return self._executors[number]

    def _suspect(self, number: int, item: _Item) -> bool:
        """Whether an item whose worker has ended is tried again."""
        self._attempts[item] += 1
        again = self._attempts[item] < self._lanes[number].attempts
        if again:
            self._again.append(item)
        return again

    def close(self) -> None:
        """Let all executors go; nothing runs any more."""
        for executor in self._executors:
            executor.shutdown()

    def end(self) -> None:
        """Stop what runs, and leave no process behind."""
        for lane, executor in zip(self._lanes, self._executors, strict=True):
            lane.stop(executor)
