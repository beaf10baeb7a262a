"""Workers of a Dask cluster, in this process."""

import pytest

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.workers import run_on

distributed = pytest.importorskip("distributed")
cluster = pytest.importorskip("celosia.sim.support.cluster")


@pytest.fixture(scope="module")
def address():
    options = {"processes": False, "n_workers": 1, "threads_per_worker": 2, "protocol": "tcp"}
    with distributed.LocalCluster(dashboard_address=None, **options) as local:
        yield local.scheduler_address


def test_workers_of_a_cluster_do_work(address):
    with cluster.cluster_lane(address) as lane:
        assert lane.width == 4
        assert sorted(run_on([lane], abs, [-1, 2])) == [(-1, 1), (2, 2)]


def test_a_worker_of_another_version_is_refused(address, monkeypatch):
    monkeypatch.setattr(cluster, "source_version", iter(["aaa", "bbb"]).__next__)
    with (
        pytest.raises(EnvironmentProblem, match=r"worker tcp.* has version bbb, this is aaa"),
        cluster.cluster_lane(address),
    ):
        pass


def test_a_scheduler_that_is_not_there_is_named(monkeypatch):
    monkeypatch.setattr(cluster, "_SECONDS", 0.3)
    with (
        pytest.raises(EnvironmentProblem, match=r"dask:tcp://127.0.0.1:9: no scheduler answers"),
        cluster.cluster_lane("tcp://127.0.0.1:9"),
    ):
        pass
