"""The number of lanes changes cycles only: the same words, with the same results and errors."""

from contextlib import closing
from dataclasses import replace

import pytest

from celosia.isa.encoding import TRANSFORM
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.devices import open_device
from celosia.sw.driver.device import Device, DeviceError
from celosia.sw.driver.program_file import ProgramFile
from tests.support.transforms import scratchpad_row

TRANSFORMS = ("normalization=true", "statistics_rows=16")
WAYS = (
    {},  # As many lanes as elements in a row: the model of `test_differential`.
    {"vector_lanes": 2, "execute_queue": 2},  # The model of `tests/support/causes` as well.
    {"vector_lanes": 1},
)


def opened(program: ProgramFile, simulator: str, way: dict[str, int], seed: int) -> Device:
    config = replace(resolve_config(program.preset, program.overrides), **way)
    device = open_device(simulator, config, MemoryTiming(seed=seed), program.memory_bytes)
    for content in program.contents:
        device.write(content.region.address, content.bytes())
    return device


def run(program: ProgramFile, simulator: str, way: dict[str, int], seed: int) -> tuple[bytes, int]:
    """All of memory after `program`, and the cycles."""
    with closing(opened(program, simulator, way, seed)) as device:
        cycles = device.run(program.commands).cycles
        return device.read(MEMORY_BASE, program.memory_bytes), cycles or 0


@pytest.mark.parametrize("first", [0, 12])
def test_results_are_the_same_for_every_number_of_lanes(first):
    slower = 0
    for seed in range(first, first + 12):
        program = random_program(seed, preset="tiny", overrides=TRANSFORMS, length=80)
        wanted, _ = run(program, "functional", {}, seed + 1)
        ran = [run(program, "verilator", way, seed) for way in WAYS]
        assert [memory for memory, _ in ran] == [wanted] * len(WAYS), seed
        slower += ran[-1][1] > ran[0][1]
    assert slower > 6


@pytest.mark.parametrize("way", WAYS[1:], ids=["2", "1"])
def test_both_rtl_simulators_take_the_same_cycles(way):
    program = random_program(3, preset="tiny", overrides=TRANSFORMS, length=15)
    assert run(program, "amaranth", way, 3) == run(program, "verilator", way, 3)


def test_errors_are_the_same_for_every_number_of_lanes():
    program = random_program(5, preset="tiny", overrides=TRANSFORMS, length=60)
    number = next(n for n, each in enumerate(program.commands) if TRANSFORM.matches(each))
    beyond = scratchpad_row(1 << 20)
    wrong = TRANSFORM.encode(local=beyond, local_rows=1, local_cols=4, target=beyond)
    commands = (*program.commands[:number], wrong, *program.commands[number + 1 :])
    told = []
    for way in WAYS:
        with closing(opened(program, "verilator", way, 5)) as device:
            with pytest.raises(DeviceError) as error:
                device.run(commands)
            told.append((str(error.value), device.read(MEMORY_BASE, program.memory_bytes)))
    assert told[1:] == told[:-1]
