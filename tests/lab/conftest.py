"""A small run on Amaranth's simulator, followed instruction by instruction."""

import pytest

from tests.support.reported_runs import amaranth_runs
from tests.support.shared_results import of_this_run


@pytest.fixture(scope="session")
def report():
    """The report of a small product's run."""
    return of_this_run("amaranth-runs", amaranth_runs)[0]
