"""Challenges: what is spoiled, that results stay, and that there is something to win."""

import hashlib
from dataclasses import replace

import pytest

from celosia.isa.encoding import CONFIG_LD, FENCE, MVIN, MVIN2, MVOUT
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.web.challenges import CHALLENGES, by_rows, fenced, pose
from celosia.sim.web.recorded import MEMORY_BYTES, WrongResultError
from celosia.sw.driver.assembly import format_command, parse_command

BASE = PRESETS["base"]


def commands(*texts):
    return [parse_command(text) for text in texts]


def test_loads_are_waited_for():
    load = "mvin dram=0x80000000 local=sp[0] local_cols=4 local_rows=4"
    store = "mvout dram=0x80000100 local=sp[0] local_cols=4 local_rows=4"
    found = [format_command(each) for each in fenced(commands(load, "config_ex", store))]
    assert found == [load, "fence", "config_ex", store]


def test_a_load_becomes_one_for_each_row_at_the_stride_of_its_set():
    program = [
        CONFIG_LD.encode(stride=8, block_stride=4),
        CONFIG_LD.encode(set=1, stride=64, block_stride=4),
        MVIN.encode(dram=MEMORY_BASE, local=16, local_cols=8, local_rows=2),
        MVIN2.encode(dram=MEMORY_BASE, local=0, local_cols=4, local_rows=2),
        MVOUT.encode(dram=MEMORY_BASE, local=0, local_cols=4, local_rows=2),
    ]
    assert list(by_rows(program)) == [
        *program[:2],
        MVIN.encode(dram=MEMORY_BASE, local=16, local_cols=8, local_rows=1),
        MVIN.encode(dram=MEMORY_BASE + 8, local=17, local_cols=8, local_rows=1),
        MVIN2.encode(dram=MEMORY_BASE, local=0, local_cols=4, local_rows=1),
        MVIN2.encode(dram=MEMORY_BASE + 64, local=1, local_cols=4, local_rows=1),
        program[4],
    ]


@pytest.mark.parametrize("name", CHALLENGES)
def test_a_title_says_what_is_computed(name):
    challenge = CHALLENGES[name]
    assert f"A product of {challenge.make().graph.name.removeprefix('matmul ')} " in challenge.title


@pytest.mark.parametrize("name", CHALLENGES)
def test_the_spoiled_program_is_slower_and_right(name):
    posed = pose(CHALLENGES[name], BASE)
    assert posed.cycles > posed.answer.cycles > 0
    assert len(posed.spoiled) > len(posed.answer.commands)
    device = FunctionalDevice(BASE, memory_bytes=MEMORY_BYTES, seed=5)
    device.write(MEMORY_BASE, posed.answer.memory)
    device.run(posed.spoiled)
    left = device.read(MEMORY_BASE, len(posed.answer.memory))
    assert hashlib.sha256(left).hexdigest() == posed.answer.digest


def test_a_spoiled_program_with_other_results_is_refused():
    wrong = replace(CHALLENGES["fences"], spoil=lambda _: iter([FENCE.encode()]))
    with pytest.raises(WrongResultError, match="waits too often: the spoiled program leaves other"):
        pose(wrong, BASE)
