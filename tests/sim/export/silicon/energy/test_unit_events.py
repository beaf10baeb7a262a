"""Events of the units: of counters, and of commands."""

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.energy.events import EVENTS
from celosia.sim.export.silicon.energy.unit_events import (
    UNIT_EVENTS,
    _of_program,
    count_unit_events,
)
from celosia.sw.driver.program_file import parse_program

COUNTERS = {
    "cycles": 500,
    "commands": 7,
    "array_rows": 10,
    "array_padding": 2,
    "read_bytes": 80,
    "write_bytes": 16,
    "vector_gelu": 3,
    "vector_sum": 2,
}
PROGRAM = """\
.preset tiny
config_ld stride=4
config_st stride=4
mvin dram=0x80001000 local=sp[0] local_cols=4 local_rows=4
config_ld stride=4 scale=0.5
mvin dram=0x80001000 local=sp[4] local_cols=4 local_rows=3
config_ex
preload b=sp[0] b_cols=4 b_rows=4 c=acc[8] c_cols=4 c_rows=4
compute_preloaded a=sp[0] a_cols=4 a_rows=4 d=none
compute_accumulated a=sp[0] a_cols=4 a_rows=4 d=none
mvout dram=0x80003000 local=acc[8] local_cols=4 local_rows=2
"""


def run(*overrides: str):
    config = vars(resolve_config("tiny", overrides)).copy()
    return {"counters": COUNTERS, "config": config, "profile": None}


def test_of_counters():
    counted = count_unit_events(run())
    assert {name: count for name, count in counted.items() if count} == {
        "array_row": 12,
        "command": 7,
        "moved_byte": 96,
        "lane_step_gelu": 12,
        "lane_step_sum": 8,
        "transform_step": 5,
        "idle_cycle": 500,
        "clock_cycle": 500,
        "transform_idle_cycle": 500,
        "transform_clock_cycle": 500,
    }


def test_without_the_unit_none_of_its_cycles():
    counted = count_unit_events(run("normalization=false"))
    assert (counted["clock_cycle"], counted["transform_clock_cycle"]) == (500, 0)
    assert (counted["idle_cycle"], counted["transform_idle_cycle"]) == (500, 0)


def test_of_commands():
    commands = parse_program(PROGRAM).commands
    # Weights move in once; three rows are scaled; two rows of four are stored.
    assert _of_program(commands, resolve_config("tiny")) == {
        "weight_byte": 16,
        "scaled_load_byte": 12,
        "requantized_element": 8,
    }


def test_all_have_names_of_their_own_and_are_counted():
    assert not EVENTS.keys() & UNIT_EVENTS.keys()
    known = {*count_unit_events(run()), "weight_byte", "requantized_element", "scaled_load_byte"}
    assert known == UNIT_EVENTS.keys()
