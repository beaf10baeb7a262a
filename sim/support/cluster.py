"""Workers of a Dask cluster: other processes, other machines (`docs/cluster.md`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from distributed import Client, KilledWorker

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.version import source_version
from celosia.sim.support.workers import Lane

__all__ = ["cluster_lane"]

_SECONDS: Final = 20
"""How long a scheduler and its first worker are waited for."""


@contextmanager
def cluster_lane(address: str) -> Iterator[Lane]:
    """The workers of the scheduler at `address`, all of which have the sources that run here.

    Raises `EnvironmentProblem` if the scheduler does not answer, has no worker, or one of another
    version.
    """
    place = f"--executor dask:{address}"
    try:
        client = Client(address, timeout=_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EnvironmentProblem(
            f"{place}: no scheduler answers within {_SECONDS} s: {error}"
        ) from None
    with client:
        try:
            client.wait_for_workers(1, timeout=_SECONDS)
        except TimeoutError:
            raise EnvironmentProblem(f"{place}: there is no worker after {_SECONDS} s") from None
        _check_versions(client, place)
        # The scheduler tries again by itself; what it gives up has ended several workers.
        threads: Any = client.nthreads()
        width = 2 * sum(threads.values())
        yield Lane(make=client.get_executor, width=width, attempts=1, broken=(KilledWorker,))


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
