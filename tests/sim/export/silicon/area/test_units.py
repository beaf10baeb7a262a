"""Every place of a design is in a unit of the figure."""

import pytest

from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.silicon.area.units import NORMALIZATION, REST, UNITS, unit_of
from celosia.sim.export.silicon.synthesis.modules import split_modules
from tests.support.exports import exported


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("", REST),
        ("accelerator", REST),
        ("accelerator.execute.array.mesh", "mesh"),
        ("accelerator.execute.array", "transposer and skew"),
        ("accelerator.execute.writer.products", "execute control"),
        ("accelerator.transform.lanes.unit.maximum$135", "lanes: maximum"),
        ("accelerator.transform.lanes.unit.waiting_kinds", "lanes: control"),
        ("counters.read$36", "counters"),
    ],
)
def test_the_longest_name_wins(path, unit):
    assert unit_of(path) == unit


def test_every_unit_is_built_where_there_is_normalization():
    modules = split_modules(exported(TopChoice.CORE, Memories.BLACKBOX).verilog)
    paths = {name.removeprefix("celosia_core").removeprefix(".") for name in modules}
    assert {unit_of(path) for path in paths} == {*UNITS.values(), REST}
    assert {path for path in paths if unit_of(path) == REST} == {"", "accelerator"}


def test_units_of_normalization():
    assert {*UNITS.values()} > NORMALIZATION
    assert "mesh" not in NORMALIZATION
