"""The blocks beside the array."""

from pathlib import Path

from celosia.sim.profile.resources import RESOURCES
from celosia.sim.reporting.data_path import BLOCKS
from celosia.sim.web.blocks import UNITS, block_tables

ROOT = Path(__file__).parents[3]


def test_blocks_are_those_of_the_figure_row_by_row():
    tables = block_tables()
    assert {each["name"] for each in tables} == set(BLOCKS)
    assert [(each["row"], each["column"]) for each in tables] == sorted(
        (block.row, block.column) for block in BLOCKS.values()
    )


def test_each_block_says_what_its_file_says():
    for each in block_tables():
        text = (ROOT / each["file"]).read_text()
        said = " ".join(text.split('"""')[1].split("\n\n")[0].split())
        assert each["doc"] == said
        assert len(said) > 20


def test_each_unit_has_blocks_that_it_lights():
    assert set(UNITS) <= set(BLOCKS)
    assert set(UNITS.values()) == set(RESOURCES)


def test_what_moves_or_computes_rows_has_a_unit_and_what_takes_commands_says_so():
    tables = {each["name"]: each for each in block_tables()}
    control = {"host", "loops", "decoder", "issue", "tokens", "owners"}
    memories = {"scratchpad", "accumulator", "parameters"}
    assert {name for name, each in tables.items() if each["unit"] is None} == control | memories
    assert {name: each["commands"] for name, each in tables.items() if each["commands"]} == {
        "loops": "accepted",
        "decoder": "command",
    }
    assert [name for name, each in tables.items() if each["queues"]] == ["issue"]
