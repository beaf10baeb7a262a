"""A small run on Amaranth's simulator, followed instruction by instruction."""

import json

import pytest

from tests.support.reported_runs import product_run


@pytest.fixture(scope="session")
def report():
    """The report of a small product's run."""
    return product_run()


@pytest.fixture(scope="session")
def document(report):
    """What ``--json`` writes of it."""
    return json.loads(json.dumps(report.document()))


@pytest.fixture(scope="session")
def profile(report):
    """What its log has shown."""
    return report.profile
