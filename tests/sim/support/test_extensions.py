"""What other packages add as entry points."""

from importlib.metadata import EntryPoint

import pytest

from celosia.sim.support import extensions as module
from celosia.sim.support.extensions import extension, extensions
from celosia.sim.support.problems import InputError


@pytest.fixture
def added(monkeypatch):
    """An installation where one package adds two things."""
    points = [
        EntryPoint(name, "math:" + name, f"celosia.{kind}")
        for name, kind in (("tau", "plans"), ("floor", "workloads"))
    ]
    module._points.cache_clear()
    monkeypatch.setattr(
        module, "entry_points", lambda group: [each for each in points if each.group == group]
    )
    yield
    module._points.cache_clear()


@pytest.mark.usefixtures("added")
def test_what_is_added_is_found_by_its_kind_and_name():
    assert extensions("workloads")["floor"](2.5) == 2
    assert extension("plans", "tau", "--tau") == pytest.approx(6.283185307)
    assert not extensions("commands")


@pytest.mark.usefixtures("added")
def test_what_nobody_adds_is_refused_in_the_words_of_its_option():
    with pytest.raises(InputError, match=r"--stages: no installed package adds celosia\.plans 'st"):
        extension("plans", "stages", "--stages")
