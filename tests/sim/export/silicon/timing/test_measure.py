"""Which modules are timed, and the longest path of each unit."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.export import design
from celosia.sim.export.silicon.synthesis.modules import split_modules
from celosia.sim.export.silicon.timing.measure import (
    CELL,
    by_unit,
    design_text,
    known_units,
)
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.support.problems import InputError
from tests.support.exports import exported


def test_units_by_name():
    assert known_units(["decoder", CELL]) == [CELL, "decoder"]
    assert len(known_units([])) > 20
    with pytest.raises(InputError, match="--unit decode: there is no such unit; there are mesh"):
        known_units(["decode"])


def test_the_modules_of_units(monkeypatch):
    monkeypatch.setattr(design, "export_design", lambda _, top, memories: exported(top, memories))
    found = design_text(resolve_config("tiny"), ["decoder"])
    modules = split_modules(found.modules)
    assert list(modules) == [
        "celosia_core.accelerator.decoder",
        "celosia_core.accelerator.decoder.unit",
        "celosia_core.accelerator.decoder.unit.configuration",
    ]
    # The rest is there as interfaces, apart from the models of memories.
    others = split_modules(found.others)
    assert "celosia_core.accelerator.execute.array.mesh" in others
    assert not modules.keys() & others.keys()
    memories = split_modules(found.memories)
    assert memories
    assert all(name.startswith("celosia_ram_") for name in memories)


def test_the_longest_of_a_unit():
    short, long = RegisterPath("a", "b", 9, 1.0), RegisterPath("c", "d", 3, 2.0)
    found = by_unit({
        "top.accelerator.decoder": short,
        "top.accelerator.decoder.unit": long,
        "top.accelerator.issue": None,
        "top.accelerator.execute.array.mesh": short,
    })
    assert [(each.unit, each.module, each.path) for each in found] == [
        ("mesh", "accelerator.execute.array.mesh", short),
        ("decoder", "accelerator.decoder.unit", long),
    ]


@pytest.mark.parametrize("ns", [2.0, None])
def test_of_paths_that_are_as_long_the_first_one_stands_for_the_unit(ns):
    first, second = RegisterPath("a", "b", 3, ns), RegisterPath("c", "d", 3, ns)
    (found,) = by_unit({"top.accelerator.decoder": first, "top.accelerator.decoder.unit": second})
    assert (found.module, found.path) == ("accelerator.decoder", first)


def test_levels_decide_where_there_is_no_time():
    short, long = RegisterPath("a", "b", 3), RegisterPath("c", "d", 9)
    (found,) = by_unit({"top.accelerator.decoder": long, "top.accelerator.decoder.unit": short})
    assert found.path == long
