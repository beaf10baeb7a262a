"""Numbers at the ends of the range in the accumulator, which products then carry over it."""

from itertools import pairwise

import numpy as np
import pytest

from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.operations import Product
from celosia.isa.operations.semantics import step
from celosia.isa.presets import PRESETS
from celosia.lab.fuzz.programs.limits import LIMITS_STRIDE, limits, limits_region
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.program_file import Region


@pytest.mark.parametrize("preset", ["tiny", "base"])
def test_every_other_number_is_close_to_an_end(preset):
    source = Region(MEMORY_BASE + 7, 8192)
    region = limits_region(PRESETS[preset], source)
    assert region.end == source.end
    content = limits(region, 3)
    numbers = np.frombuffer(content.bytes(), "<i4").astype(np.int64)
    assert region.size == numbers.size * LIMITS_STRIDE
    assert (np.abs(numbers[::2] + 0.5) > (1 << 31) - (1 << 13)).all()
    assert len(set(np.sign(numbers[::2]).tolist())) == 2
    assert content == limits(region, 3) != limits(region, 4)


def wrapped_products(program) -> int:
    """How many products of a program carry a sum over an end of the range."""
    device = FunctionalDevice(program.config, memory_bytes=program.memory_bytes)
    device.write(MEMORY_BASE, program.memory_image())
    accumulators = [device.machine.accumulator.astype(np.int64)]
    adds = []
    for command in program.commands:
        match step(command, device.state, program.config).operation:
            case Product(c=c) if c is not None and c.local.accumulator:
                adds.append(c.local.accumulate)
            case _:
                adds.append(False)
        device.run([command])
        accumulators.append(device.machine.accumulator.astype(np.int64))
    changes = [np.abs(after - before).max() for before, after in pairwise(accumulators)]
    return sum(add and change > 1 << 31 for add, change in zip(adds, changes, strict=True))


@pytest.mark.parametrize("preset", ["tiny", "gemmini4"])
def test_in_many_programs_sums_of_products_wrap(preset):
    programs = [random_program(seed, preset=preset, length=60) for seed in range(20)]
    found = [wrapped_products(program) for program in programs]
    assert sum(count > 0 for count in found) >= 4, found
