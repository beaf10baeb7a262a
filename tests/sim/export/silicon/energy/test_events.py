"""Events are those of the counters, and of what operations name in the local memories."""

from types import SimpleNamespace

import pytest

from celosia.isa.presets import resolve_config
from celosia.sim.export.silicon.energy import events
from celosia.sim.export.silicon.energy.events import EVENTS, count_events, memory_events
from celosia.sim.support.problems import InputError
from celosia.sw.driver.program_file import parse_program

COUNTERS = {
    "array_rows": 10,
    "read_bytes": 16 + 64,
    "write_bytes": 16,
    "vector_gelu": 3,
    "vector_sum": 2,
    "vector_bank_load": 99,
}
PROGRAM = """\
.preset tiny
config_ld stride=4
config_st stride=4
mvin dram=0x80001000 local=sp[0] local_cols=4 local_rows=4
config_ld stride=16
mvin dram=0x80002000 local=acc[0] local_cols=4 local_rows=4
mvout dram=0x80003000 local=sp[0] local_cols=4 local_rows=4
"""


def run(**more):
    config = vars(resolve_config("tiny")).copy()
    return {"counters": COUNTERS, "config": config, "profile": None, **more}


def test_counters_alone():
    assert count_events("run.json", run()) == {
        "mac": 10 * 4 * 4,
        "bus_read_byte": 80,
        "bus_write_byte": 16,
        "lane_step": 4 * 5,
    }


def test_a_step_is_of_as_many_elements_as_there_are_lanes():
    config = vars(resolve_config("tiny", ["vector_lanes=2"])).copy()
    counted = count_events("run.json", run(config=config))
    assert (counted["lane_step"], counted["mac"]) == (2 * 5, 10 * 4 * 4)


def test_rows_of_local_memories():
    commands = parse_program(PROGRAM).commands
    counted = memory_events(commands, resolve_config("tiny"))
    assert {name: count for name, count in counted.items() if count} == {
        "scratchpad_write_byte": 16,
        "accumulator_write_byte": 64,
        "scratchpad_read_byte": 16,
    }
    assert counted.keys() == EVENTS.keys() - count_events("run.json", run()).keys()


def test_a_program_that_the_run_has(monkeypatch):
    commands = parse_program(PROGRAM).commands
    found = SimpleNamespace(commands=commands)
    monkeypatch.setattr(events, "Profile", SimpleNamespace(from_document=lambda _: found))
    counted = count_events("run.json", run(profile={}))
    assert counted["accumulator_write_byte"] == 64
    other = {**COUNTERS, "read_bytes": 81}
    with pytest.raises(InputError, match=r"run\.json: profile\.program: reads 80 bytes .* read 81"):
        count_events("run.json", run(profile={}, counters=other))
