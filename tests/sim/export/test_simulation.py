"""An exported accelerator does, in every cycle, what the simulators' does, whose units sleep."""

import numpy as np
import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.verilator.build import build_model
from celosia.sw.driver.runtime import matmul
from tests.support.exports import SMALLEST, exported

CHECKS = "`define CELOSIA_ASSERTIONS\n`define CELOSIA_PESSIMISTIC_RAMS\n"


def library(memories: Memories, overrides: tuple[str, ...]):
    design = exported(TopChoice.AXI, memories, "tiny", overrides)
    return build_model(CHECKS + design.verilog + design.models, design.config)


def product(memories: Memories):
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((9, 13), (13, 11)))
    bias = rng.integers(-1000, 1000, 11, dtype=np.int32)
    config = resolve_config("tiny", SMALLEST)
    timing = MemoryTiming(latency=7, stall_percent=30)
    device = VerilatorDevice(config, timing, library=library(memories, SMALLEST))
    c, result = matmul(device, a, b, bias=bias, scale=0.01)
    device.close()
    return c.tolist(), result.cycles, result.counters


@pytest.mark.slow
def test_a_product_takes_the_same_cycles():
    assert product(Memories.BLACKBOX) == product(Memories.INFERRED)


@pytest.mark.slow
def test_random_programs_take_the_same_cycles():
    libraries = [None, *(library(memories, ()) for memories in Memories)]
    for seed in range(25):
        program = random_program(seed, preset="tiny", length=60)
        outcomes = []
        for path in libraries:
            config = resolve_config("tiny", program.overrides)
            timing = MemoryTiming(latency=5, stall_percent=20, seed=seed)
            device = VerilatorDevice(config, timing, program.memory_bytes, library=path)
            for content in program.contents:
                device.write(content.region.address, content.bytes())
            result = device.run(program.commands)
            memory = device.read(MEMORY_BASE, program.memory_bytes)
            device.close()
            outcomes.append((memory, result.cycles, result.counters))
        assert outcomes[1:] == outcomes[:-1], f"seed {seed}"
