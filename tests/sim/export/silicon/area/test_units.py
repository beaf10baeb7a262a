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
        ("accelerator.owners.x", "counters"),
        ("accelerator.load.unit.reader", "DMA reader"),
        ("accelerator.load.unit.rows.scaler", "load scaler"),
        ("accelerator.load.unit.rows", "load control and unpacking"),
        ("accelerator.store.unit.writer", "DMA writer"),
        ("accelerator.store.unit.drain.requantizer", "requantizer"),
        ("accelerator.store.unit.drain", "store control and drain"),
        ("accelerator.issue", "issue and hazards"),
        ("accelerator.tokens", "tokens"),
        ("accelerator.decoder", "decoder"),
        ("accelerator.loops", "loops"),
        ("accelerator.scratchpad.bank_1", "scratchpad"),
        ("accelerator.accumulator.bank_0", "accumulator"),
        ("accelerator.parameters.rows", "parameters"),
        ("accelerator.transform.lanes.unit.polynomial", "lanes: polynomial"),
        ("accelerator.transform.lanes.unit.scaler", "lanes: scaler"),
        ("accelerator.transform.lanes.unit.total", "lanes: sums"),
        ("accelerator.transform.unit.statistics", "statistics and background"),
        ("accelerator.transform.unit.reader", "transform control, reader, writer"),
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


def test_a_figure_follows_the_data_path():
    """Tables have this order: what computes first, what moves and says what to do behind it."""
    units = list(dict.fromkeys(UNITS.values()))
    assert units[:3] == ["mesh", "transposer and skew", "execute control"]
    assert units[-1] == "transform control, reader, writer"
    assert {*units[-7:]} == NORMALIZATION
