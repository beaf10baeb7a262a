"""What the page can run."""

import pytest

from celosia.isa.presets import PRESETS
from celosia.sim.web.programs import MACHINES, PROGRAMS


def test_each_machine_has_the_unit_that_programs_need():
    assert [each.preset for each in MACHINES] == ["tiny", "small", "base"]
    assert all(each.config.normalization for each in MACHINES)
    assert MACHINES[0].config == PRESETS["tiny"]


def test_titles_say_how_large_the_array_is():
    assert [each.title for each in MACHINES] == [
        "tiny: 4x4",
        "small with the normalization unit: 8x8",
        "base: 16x16",
    ]


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "layer"])
def test_a_program_is_the_same_whenever_it_is_made(name):
    first, second = PROGRAMS[name].make(), PROGRAMS[name].make()
    assert first.inputs.keys() == second.inputs.keys()
    assert all((first.inputs[each] == second.inputs[each]).all() for each in first.inputs)


def test_titles_differ():
    assert len({choice.title for choice in PROGRAMS.values()}) == len(PROGRAMS)
