"""Workers of a Dask cluster, in this process, and a scheduler that ends."""

import itertools
import threading
import time

import pytest

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.workers import Needs, run_on

distributed = pytest.importorskip("distributed")
cluster = pytest.importorskip("celosia.sim.support.cluster")


OPTIONS = {
    "processes": False,
    "n_workers": 1,
    "threads_per_worker": 2,
    "protocol": "tcp",
    "dashboard_address": ":0",
}


@pytest.fixture(scope="module")
def address():
    with distributed.LocalCluster(**OPTIONS) as local:
        yield local.scheduler_address


def test_workers_of_a_cluster_do_work(address):
    with cluster.cluster_lanes(address) as lanes:
        assert [lane.width for lane in lanes] == [4]
        assert sorted(run_on(lanes, abs, [-1, 2])) == [(-1, 1), (2, 2)]


def test_what_work_raises_on_a_cluster_is_raised(address, capfd):
    with cluster.cluster_lanes(address) as lanes:
        with pytest.raises(ZeroDivisionError, match="by zero"):
            list(run_on(lanes, one_over, range(8)))
        assert list(run_on(lanes, abs, [-1])) == [(-1, 1)]
    assert "Traceback" not in capfd.readouterr().err


def one_over(number: int) -> int:
    return 1 // number


def own_cache(_=None, dask_worker=None) -> str:
    """As if each worker had a cache of its own; Dask gives what is no work its worker."""
    return (dask_worker or distributed.get_worker()).address


ANSWERS = itertools.cycle([False, True])
"""What two workers answer, which are asked one after the other."""


def stands_on_the_second(_) -> bool:
    return next(ANSWERS)


@pytest.fixture
def pair(monkeypatch):
    monkeypatch.setattr(cluster, "here", own_cache)
    with (
        distributed.LocalCluster(**{**OPTIONS, "n_workers": 2}) as local,
        cluster.cluster_lanes(local.scheduler_address) as lanes,
    ):
        yield local, lanes


def test_workers_with_a_cache_are_asked_for_what_it_has_and_get_what_needs_it(pair):
    _, lanes = pair
    assert [lane.width for lane in lanes] == [4, 4]
    assert [lane.ask(own_cache) for lane in lanes] == [lane.place for lane in lanes]
    needs = Needs(lambda item: (item,), stands_on_the_second)
    assert list(run_on(lanes, own_cache, ["x"], needs)) == [("x", lanes[1].place)]


def test_work_of_workers_that_have_left_is_done_by_others(pair):
    local, (first, second) = pair
    with distributed.Client(local.scheduler_address, set_as_default=False) as client:
        client.retire_workers([first.place])
    assert first.ask(own_cache) is None
    assert first.make().submit(own_cache).result() == second.place


def test_workers_that_leave_before_there_is_work_are_no_workers(address, monkeypatch):
    def of_worker():
        raise OSError("gone")

    monkeypatch.setattr(cluster, "here", of_worker)
    with (
        pytest.raises(EnvironmentProblem, match=r"tcp:.*: there is no worker any more"),
        cluster.cluster_lanes(address),
    ):
        pass


def test_who_is_interrupted_leaves_nothing_to_a_cluster(address):
    """What was not begun is forgotten, and nobody waits for what was: it would take for ever."""
    try:
        with cluster.cluster_lanes(address) as lanes:
            results = run_on(lanes, waiting, itertools.chain([True], itertools.repeat(False)))
            next(results)
            with pytest.raises(KeyboardInterrupt):
                results.throw(KeyboardInterrupt)
            with distributed.Client(address, set_as_default=False) as client:
                until(lambda: not any(client.processing().values()))
    finally:
        OVER.set()


def until(true):
    for _ in range(100):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("still not so")


OVER = threading.Event()
"""Workers are threads here, and see it."""


def waiting(is_first: bool) -> None:
    if not is_first:
        OVER.wait(60)


def test_a_scheduler_that_ends_is_named(capfd, monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS", 1)
    with distributed.LocalCluster(**OPTIONS) as local:
        place = f"--executor dask:{local.scheduler_address}"
        with pytest.raises(EnvironmentProblem, match=f"{place}: the scheduler does not answer"):
            work_until_it_ends(local)
    assert "Traceback" not in capfd.readouterr().err


def work_until_it_ends(local):
    with cluster.cluster_lanes(local.scheduler_address) as lanes:
        for _ in run_on(lanes, time.sleep, itertools.repeat(0.1)):
            local.close()


def test_a_worker_of_another_version_is_refused(address, monkeypatch):
    monkeypatch.setattr(cluster, "source_version", iter(["aaa", "bbb"]).__next__)
    with (
        pytest.raises(EnvironmentProblem, match=r"worker tcp.* has version bbb, this is aaa"),
        cluster.cluster_lanes(address),
    ):
        pass


def test_a_worker_that_cannot_say_its_version_is_refused(address, monkeypatch):
    """It may have no sources, or none that can be read: nobody knows what it would compute."""

    def of_worker():
        raise OSError("no sources here")

    monkeypatch.setattr(cluster, "_version_of_worker", of_worker)
    with (
        pytest.raises(EnvironmentProblem, match=r"worker tcp.*no sources here"),
        cluster.cluster_lanes(address),
    ):
        pass


def test_a_scheduler_that_is_not_there_is_named(monkeypatch, caplog):
    monkeypatch.setattr(cluster, "_SECONDS", 0.3)
    monkeypatch.setattr(cluster, "_SILENCE", 0.1)
    with (
        pytest.raises(EnvironmentProblem, match=r"dask:tcp://127.0.0.1:9: no scheduler answers"),
        cluster.cluster_lanes("tcp://127.0.0.1:9"),
    ):
        pass
    said = "celosia: --executor dask:tcp://127.0.0.1:9: no scheduler answers yet; waiting up to"
    assert said in caplog.text
