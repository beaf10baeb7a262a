"""Random graphs on every level, and what is told of one that differs."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.graphs import check
from celosia.lab.fuzz.graphs.check import graph_difference
from celosia.lab.fuzz.graphs.levels import LevelsDifferError
from celosia.lab.fuzz.graphs.random_graph import case_for, random_case
from tests.support.levels import CONFIGS


def test_a_graph_that_agrees():
    commands, why = graph_difference(random_case(3, ops=2, extent=6), CONFIGS["tiny"], "functional")
    assert commands
    assert why == ""


@pytest.mark.parametrize("preset", ["small", "gemmini", "gemmini4"])
def test_an_accelerator_without_the_unit_has_graphs_of_plain_products(preset):
    config = resolve_config(preset)
    cases = [case_for(seed, config) for seed in range(3)]
    assert {1, 2} <= {len(case.graph.ops) for case in cases}
    for case in cases:
        commands, why = graph_difference(case, config, "functional")
        assert commands
        assert why == ""


@pytest.mark.parametrize("error", [LevelsDifferError("out: 1 of 4"), KeyError("x")])
def test_a_graph_that_does_not(error, monkeypatch):
    def differ(*_):
        raise error

    monkeypatch.setattr(check, "check_levels", differ)
    _, why = graph_difference(random_case(3, ops=2, extent=6), CONFIGS["tiny"], "functional")
    assert str(error) in why
