"""Small runs on Amaranth's simulator, followed instruction by instruction."""

import json

import pytest

from tests.support.reported_runs import amaranth_runs
from tests.support.shared_results import of_this_run


@pytest.fixture(scope="session")
def runs():
    """The report of a small product's run, and that of a program that is stopped."""
    return of_this_run("amaranth-runs", amaranth_runs)


@pytest.fixture(scope="session")
def report(runs):
    """The report of a small product's run."""
    return runs[0]


@pytest.fixture(scope="session")
def document(report):
    """What ``--json`` writes of it."""
    return json.loads(json.dumps(report.document()))


@pytest.fixture(scope="session")
def profile(report):
    """What its log has shown."""
    return report.profile


@pytest.fixture(scope="session")
def stuck(runs):
    """What ``--json`` writes of a program that was stopped."""
    return json.loads(json.dumps(runs[1].document()))
