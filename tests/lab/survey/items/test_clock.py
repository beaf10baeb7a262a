"""The survey's item of time."""

from types import SimpleNamespace

import pytest

from celosia.lab.survey.items import clock
from celosia.lab.survey.parts.paper import paper
from celosia.lab.survey.parts.values import Evidence, Scope
from celosia.sim.export.silicon.timing.measure import DesignText, Measured, ModulePath
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.times import Workload
from celosia.sim.support.errors import EnvironmentProblem

CELL_NS = {"default": 4.0, "prefix": 3.0}
LONGEST_NS = {"default": 6.0, "prefix": 5.0}
SET_UP_NS = 0.5


def path(ns):
    return RegisterPath("a", "b", 9, ns, SET_UP_NS)


def measured(_tools, _library, _design, scripts, *_):
    units = {"mesh": CELL_NS, "decoder": LONGEST_NS}
    return [
        Measured(script, [ModulePath(unit, unit, path(ns[script])) for unit, ns in units.items()])
        for script in scripts
    ]


@pytest.fixture
def timed(monkeypatch):
    tool = SimpleNamespace(identity="known")
    for name in ("find_yosys", "choose_library", "find_sta"):
        monkeypatch.setattr(clock, name, lambda *_: tool)
    monkeypatch.setattr(clock, "design_text", lambda *_: DesignText("", "", ""))
    monkeypatch.setattr(clock, "measure", measured)
    monkeypatch.setattr(clock, "predict_standard", lambda *_: [Workload("layer", 2000)])


def made(**scope):
    return clock.STUDIES[0].make(Evidence(paper(), {}, Scope(**scope)))


@pytest.mark.usefixtures("timed")
def test_cycles_are_shown_in_time_by_each_script():
    item = made()
    assert {value.name: (value.ours, value.unit) for value in item.values} == {
        "a cycle, default": (6.5, "ns"),
        "layer, default": (13.0, "us"),
        "layer, default, for the clock": (4.0, "us"),
        "a cycle, prefix": (5.5, "ns"),
        "layer, prefix": (11.0, "us"),
        "layer, prefix, for the clock": (4.0, "us"),
    }
    assert not item.missing
    assert "2,000 cycles of that length" in {value.note for value in item.values}


@pytest.mark.usefixtures("timed")
def test_a_quick_survey_leaves_time_out():
    item = made(quick=True)
    assert item.values == ()
    assert item.missing.startswith("--quick leaves it out")


@pytest.mark.usefixtures("timed")
def test_what_is_not_installed_is_said(monkeypatch):
    def nothing():
        raise EnvironmentProblem("there is no sta")

    monkeypatch.setattr(clock, "find_sta", nothing)
    assert made().missing == "there is no sta"
