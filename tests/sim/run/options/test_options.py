"""Records of a run's options: their defaults, and the configuration that they stand for."""

from dataclasses import asdict
from typing import Any
from unittest.mock import Mock

import pytest

from celosia.isa.config import ConfigError
from celosia.isa.presets import PRESETS
from celosia.sim.run.options.given_plans import GivenPlan
from celosia.sim.run.options.options import Compiling, RunOptions, Target, Told
from celosia.sim.run.outcome import setting_of
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.model_job import ModelJob


def test_what_is_not_said():
    options = RunOptions(workload="m")
    target = options.target
    assert (target.simulator, target.preset, target.preset_name) == ("verilator", None, "base")
    assert (target.issue, target.cycle_budget, target.overrides) == ("stream", 0, ())
    assert options.watching.check == "all"
    watching, compiling = options.watching, options.compiling
    assert not any((watching.log, watching.advice, watching.wave))
    assert not any((compiling.optimize, compiling.reuse_memory))
    assert target.config == PRESETS["base"]


def test_a_preset_with_changes():
    target = Target(preset="tiny", overrides=("accumulator_kib=16",))
    assert target.preset_name == "tiny"
    assert target.config == PRESETS["tiny"].with_values({"accumulator_kib": 16})
    assert target.hardware == (target.config, target.timing)
    with pytest.raises(ConfigError):
        _ = Target(preset="tiny", overrides=("dim=5",)).config


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_same_on_any_configuration(preset):
    target = Target(simulator="functional", preset="no such", cycle_budget=5)
    found = target.on(PRESETS[preset])
    assert found.config == PRESETS[preset]
    assert (found.simulator, found.cycle_budget) == ("functional", 5)
    assert len(found.overrides) == len(asdict(PRESETS[preset]))


def test_what_only_graphs_have():
    Compiling().check_no_graph("p.cel")
    with pytest.raises(
        InputError, match=r"--reuse-memory: p\.cel is no graph with tensors between"
    ):
        Compiling(reuse_memory=True).check_no_graph("p.cel")
    with pytest.raises(InputError, match=r"--optimize: p\.cel is no graph"):
        Compiling(optimize=True).check_no_graph("p.cel")


@pytest.mark.parametrize(
    ("said", "check", "shared"),
    [
        (False, "all", False),
        (False, "outputs", True),
        (False, "none", True),
        (True, "all", True),
    ],
)
def test_memory_is_shared_where_nothing_inside_is_compared(said, check, shared):
    options = RunOptions(workload="m", compiling=Compiling(reuse_memory=said))
    assert options.checking(check).reuse_memory is shared


def test_what_a_report_says_of_options():
    options = RunOptions(
        workload="m",
        target=Target(simulator="functional", preset="tiny", issue="ring", cycle_budget=9),
        told=Told(command_line=("celosia", "run", "m")),
    )
    found = setting_of(options, "other", PRESETS["base"])
    assert (found.workload, found.preset, found.simulator) == ("m", "other", "functional")
    assert (found.issue, found.cycle_budget, found.check) == ("ring", 9, "all")
    assert found.config == PRESETS["base"]
    assert found.timing == options.target.timing
    assert tuple(found.origin.command_line) == ("celosia", "run", "m")


@pytest.mark.parametrize(
    ("given", "wanted"),
    [(GivenPlan(), ("saved",)), (GivenPlan(stages="simple"), ("given",))],
)
def test_a_plan_that_is_given_is_taken_in_place_of_one_that_is_saved(given, wanted, monkeypatch):
    job: Any = Mock(spec=ModelJob)
    job.plans, job.graphs = ("saved",), ("a graph",)
    monkeypatch.setattr(GivenPlan, "of", lambda _self, graphs, *_hardware: ("given",) * len(graphs))
    options = RunOptions(workload="m", compiling=Compiling(given=given))
    assert options.plans(job) == wanted
