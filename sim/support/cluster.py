"""Workers of a Dask cluster: other processes, other machines (`docs/cluster.md`)."""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Executor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final

from distributed import Client, KilledWorker
from distributed.comm.core import CommClosedError

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.version import source_version
from celosia.sim.support.workers import Lane, here

__all__ = ["cluster_lanes"]

_SECONDS: Final = 20
"""How long a scheduler and its first worker are waited for."""
_SILENCE: Final = 2
"""Seconds of waiting after which a line says what is waited for."""
_LOG: Final = logging.getLogger("celosia")
_GONE: Final = (CancelledError, CommClosedError)
"""What work raises whose scheduler does not answer any more."""


@contextmanager
def cluster_lanes(address: str) -> Iterator[Sequence[Lane]]:
    """The workers of the scheduler at `address`, all of which have the sources that run here.

    Those that share a cache are one lane.  Its work is theirs while others have enough of their
    own: the scheduler gives it to whoever is idle, or joins later, and to others if they end.

    Raises `EnvironmentProblem` if the scheduler does not answer, has no worker, or one of another
    version; and if it ends while there is work.
    """
    place = f"--executor dask:{address}"
    with _quiet():
        try:
            with _said(f"{place}: no scheduler answers yet"):
                client = Client(address, timeout=_SECONDS, set_as_default=False)
        except (OSError, ValueError) as error:
            raise EnvironmentProblem(
                f"{place}: no scheduler answers within {_SECONDS} s: {error}"
            ) from None
        with client:
            try:
                yield _lanes(client, place)
            except _GONE:
                raise EnvironmentProblem(
                    f"{place}: the scheduler does not answer any more"
                ) from None


def _lanes(client: Client, place: str) -> Sequence[Lane]:
    try:
        with _said(f"{place}: the scheduler has no worker yet"):
            client.wait_for_workers(1, timeout=_SECONDS)
    except TimeoutError:
        raise EnvironmentProblem(f"{place}: there is no worker after {_SECONDS} s") from None
    _check_versions(client, place)
    threads: Any = client.nthreads()
    caches: Any = client.run(here, on_error="ignore")
    workers: dict[str, dict[str, int]] = {}
    for worker, cache in caches.items():
        workers.setdefault(cache, {})[worker] = threads.get(worker, 1)
    if not workers:
        raise EnvironmentProblem(f"{place}: there is no worker any more")
    return [_lane(client, cache, each) for cache, each in workers.items()]


def _lane(client: Client, cache: str, threads: Mapping[str, int]) -> Lane:
    workers = [*threads]
    # The scheduler tries again by itself; what it gives up has ended several workers.
    return Lane(
        make=partial(client.get_executor, workers=workers, allow_other_workers=True),
        width=2 * sum(threads.values()),
        attempts=1,
        broken=(KilledWorker,),
        stop=partial(_cancel, client),
        place=cache,
        ask=partial(_ask, client, workers[0]),
    )


def _ask(client: Client, worker: str, function: Callable[[], Any]) -> Any:
    """What `function` returns on a worker; None if it has ended."""
    there: Any = client.nthreads()
    if worker not in there:  # Dask would try for 30 s to reach it.
        return None
    said: Any = client.run(function, workers=[worker], on_error="ignore")
    return said.get(worker)


def _cancel(client: Client, executor: Executor) -> None:
    """Nobody computes any more what was asked of `executor`."""
    if client.status == "running":  # Else there is nobody to tell.
        with suppress(*_GONE, TimeoutError):
            executor.shutdown(wait=False)


@contextmanager
def _said(what: str) -> Iterator[None]:
    """A line says what is waited for, if that takes long."""
    line = threading.Timer(
        _SILENCE, _LOG.warning, ("celosia: %s; waiting up to %s s", what, _SECONDS)
    )
    line.daemon = True
    line.start()
    try:
        yield
    finally:
        line.cancel()


@contextmanager
def _quiet() -> Iterator[None]:
    """What goes wrong is said once, by who started the work: not by Dask's own lines, too."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _check_versions(client: Client, place: str) -> None:
    """Raise `EnvironmentProblem` if a worker does not compute what this process would."""
    ours = source_version()
    versions: Any = client.run(_version_of_worker, on_error="return")
    for worker, theirs in versions.items():
        if theirs != ours:
            raise EnvironmentProblem(
                f"{place}: worker {worker} has version {theirs}, this is {ours}: install the "
                "same celosia on both (docs/cluster.md)"
            )


def _version_of_worker() -> str:
    return source_version()
