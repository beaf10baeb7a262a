"""Random graphs on every level, and what is told of one that differs."""

import pytest

from celosia.sim.fuzz.graphs import check
from celosia.sim.fuzz.graphs.check import graph_difference
from celosia.sim.fuzz.graphs.levels import LevelsDifferError
from celosia.sim.fuzz.graphs.random_graph import random_case
from tests.support.levels import CONFIGS


def test_a_graph_that_agrees():
    commands, why = graph_difference(random_case(3, ops=2, extent=6), CONFIGS["tiny"], "functional")
    assert commands
    assert why == ""


@pytest.mark.parametrize("error", [LevelsDifferError("out: 1 of 4"), KeyError("x")])
def test_a_graph_that_does_not(error, monkeypatch):
    def differ(*_):
        raise error

    monkeypatch.setattr(check, "check_levels", differ)
    _, why = graph_difference(random_case(3, ops=2, extent=6), CONFIGS["tiny"], "functional")
    assert str(error) in why
