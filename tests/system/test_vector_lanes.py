"""The number of lanes changes cycles only: the same words, with the same results and errors."""

from contextlib import closing

import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import TRANSFORM
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.devices import open_device
from celosia.sw.driver.device import Device, DeviceError
from celosia.sw.driver.program_file import ProgramFile
from tests.support.cramped import CRAMPED, CRAMPED_OVERRIDES, CRAMPED_PRESET
from tests.support.transforms import scratchpad_row

WAYS = (PRESETS[CRAMPED_PRESET], CRAMPED)
"""As many lanes as elements in a row, and one; programs are of the one that has fewer rows."""


def opened(program: ProgramFile, simulator: str, config: AcceleratorConfig, seed: int) -> Device:
    device = open_device(simulator, config, MemoryTiming(seed=seed), program.memory_bytes)
    for content in program.contents:
        device.write(content.region.address, content.bytes())
    return device


def run(
    program: ProgramFile, simulator: str, config: AcceleratorConfig, seed: int
) -> tuple[bytes, int]:
    """All of memory after `program`, and the cycles."""
    with closing(opened(program, simulator, config, seed)) as device:
        cycles = device.run(program.commands).cycles
        return device.read(MEMORY_BASE, program.memory_bytes), cycles or 0


def drawn(seed: int, length: int) -> ProgramFile:
    return random_program(seed, preset=CRAMPED_PRESET, overrides=CRAMPED_OVERRIDES, length=length)


@pytest.mark.parametrize("first", [0, 12])
def test_results_are_the_same_for_every_number_of_lanes(first):
    slower = 0
    for seed in range(first, first + 12):
        program = drawn(seed, 80)
        wanted, _ = run(program, "functional", CRAMPED, seed + 1)
        ran = [run(program, "verilator", way, seed) for way in WAYS]
        assert [memory for memory, _ in ran] == [wanted] * len(WAYS), seed
        slower += ran[-1][1] > ran[0][1]
    assert slower > 6


@pytest.mark.nightly  # As `tests/sim/devices/test_rtl_device.py` has of two configurations.
def test_both_rtl_simulators_take_the_same_cycles():
    program = drawn(3, 15)
    assert run(program, "amaranth", CRAMPED, 3) == run(program, "verilator", CRAMPED, 3)


def test_errors_are_the_same_for_every_number_of_lanes():
    program = drawn(5, 60)
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
