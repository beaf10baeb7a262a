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


PRODUCT = """\
config_ex
preload b=sp[0] b_cols=4 b_rows=4 c=acc[8] c_cols=4 c_rows=3
compute_preloaded a=sp[8] a_cols=4 a_rows=3 d=none
"""
OPERATIONS = {
    "repeated pixels": (
        "config_ld stride=4 pixel_repeats=3",
        "mvin dram=0x80001000 local=sp[8] local_cols=1 local_rows=4",
        {"scratchpad_write_byte": 3 * 4 * 4},
    ),
    "two blocks": (
        "config_ld stride=8 block_stride=4",
        "mvin dram=0x80001000 local=sp[8] local_cols=5 local_rows=3",
        {"scratchpad_write_byte": 2 * 3 * 4},
    ),
    "added": (
        "config_ld stride=16",
        "mvin dram=0x80001000 local=acc[0]+accumulate local_cols=4 local_rows=3",
        {"accumulator_write_byte": 3 * 16, "accumulator_read_byte": 3 * 16},
    ),
    "parameters": ("mvin_param dram=0x80001000 row=1 count=6", "", {"parameter_write_byte": 24}),
    "bias": (
        "config_st stride=4\nconfig_drain bias=1 bias_row=2",
        "mvout dram=0x80001000 local=acc[0] local_cols=4 local_rows=3",
        {"accumulator_read_byte": 3 * 16, "parameter_read_byte": 3 * 16},
    ),
    "product": (
        "config_ex",
        "preload b=sp[0] b_cols=4 b_rows=4 c=acc[8] c_cols=4 c_rows=3\n"
        "compute_preloaded a=sp[8] a_cols=4 a_rows=3 d=none",
        {"scratchpad_read_byte": (4 + 3) * 4, "accumulator_write_byte": 3 * 16},
    ),
    "product onto sums": (
        PRODUCT,
        "preload b=none c=acc[8]+accumulate c_cols=4 c_rows=3\n"
        "compute_accumulated a=sp[8] a_cols=4 a_rows=3 d=sp[12] d_cols=4 d_rows=3",
        {
            "scratchpad_read_byte": (3 + 3) * 4,
            "accumulator_write_byte": 3 * 16,
            "accumulator_read_byte": 3 * 16,
        },
    ),
    "transform": (
        "config_transform bias=1\nconfig_rows source_stride=2 target_stride=2 bias_row=3",
        "transform target=sp[0] target2=sp[0] local=acc[8] local_cols=6 local_rows=2",
        {
            "transform_accumulator_read_byte": 2 * 2 * 16,
            "transform_scratchpad_write_byte": 2 * 2 * 4,
            "transform_parameter_read_byte": 2 * 2 * 16,
        },
    ),
    "transform of two": (
        "config_transform function=multiply\n"
        "config_rows source_stride=4 residual_stride=4 target_stride=4 residual=sp[32]",
        "transform target=sp[64] target2=sp[0] local=sp[0] local_cols=5 local_rows=2",
        {
            "transform_scratchpad_read_byte": 2 * (2 * 3 * 4),
            "transform_scratchpad_write_byte": 2 * 2 * 4,
        },
    ),
}
"""What configures `tiny`, an operation behind it, and its rows by hand: of 4 or 16 bytes."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_operation_has_its_rows(name):
    before, operation, wanted = OPERATIONS[name]
    config = resolve_config("tiny", ["convolution=true"])

    def events_of(text):
        return memory_events(parse_program(f".preset tiny\n{text}\n").commands, config)

    if not operation:
        before, operation = "config_ex", before
    ahead, whole = events_of(before), events_of(f"{before}\n{operation}")
    more = {event: count - ahead[event] for event, count in whole.items() if count != ahead[event]}
    assert more == wanted


def test_a_program_that_the_run_has(monkeypatch):
    commands = parse_program(PROGRAM).commands
    found = SimpleNamespace(commands=commands)
    monkeypatch.setattr(events, "Profile", SimpleNamespace(from_document=lambda _: found))
    counted = count_events("run.json", run(profile={}))
    assert counted["accumulator_write_byte"] == 64
    other = {**COUNTERS, "read_bytes": 81}
    with pytest.raises(InputError, match=r"run\.json: profile\.program: reads 80 bytes .* read 81"):
        count_events("run.json", run(profile={}, counters=other))
