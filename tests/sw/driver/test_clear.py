"""Nothing of a program is left after a clear."""

import pytest

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import ACC_BYTES
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    CONFIG_DRAIN,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    FENCE,
    MVIN,
    MVOUT,
    PRELOAD,
    Function,
)
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.semantics import step
from celosia.isa.operations.transforms import Transform
from celosia.isa.presets import PRESETS
from celosia.isa.state.state import ArchState
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.devices import open_device
from celosia.sw.driver.clear import clear_commands, zeros_needed

TINY = PRESETS["tiny"]
DIM = TINY.dim
FEW_ROWS = TINY.with_values({"accumulator_kib": 2})
"""As many rows of sums as half of the statistics."""
ZEROS, DUMP = MEMORY_BASE + 0x10000, MEMORY_BASE + 0x20000


def dump():
    """Everything that can be seen from outside: all rows, parameters by way of a bias."""
    commands = [CONFIG_DRAIN.encode(), CONFIG_ST.encode(stride=DIM)]
    address = DUMP
    commands.append(
        MVOUT.encode(dram=address, local=0, local_cols=DIM, local_rows=TINY.scratchpad_rows)
    )
    address += DIM * TINY.scratchpad_rows
    commands.append(CONFIG_ST.encode(stride=DIM * ACC_BYTES))
    row = LocalAddress(row=0, accumulator=True, full=True).encode()
    commands.append(
        MVOUT.encode(dram=address, local=row, local_cols=DIM, local_rows=TINY.accumulator_rows)
    )
    address += DIM * ACC_BYTES * TINY.accumulator_rows
    for parameter in range(TINY.parameter_rows):
        commands += [
            CONFIG_DRAIN.encode(bias=1, bias_row=parameter),
            MVOUT.encode(dram=address, local=row, local_cols=DIM, local_rows=1),
        ]
        address += DIM * ACC_BYTES
    return [*commands, FENCE.encode()], address - DUMP


def weights_are_zero():
    """A product of ones with whatever the array holds."""
    return [
        CONFIG_EX.encode(weight_stationary=1),
        CONFIG_LD.encode(stride=DIM, block_stride=DIM),
        MVIN.encode(dram=MEMORY_BASE, local=0, local_cols=DIM, local_rows=DIM),
        PRELOAD.encode(
            b=GARBAGE, c=LocalAddress(row=0, accumulator=True).encode(), c_cols=DIM, c_rows=DIM
        ),
        COMPUTE_ACCUMULATED.encode(a=0, a_cols=DIM, a_rows=DIM, d=GARBAGE),
    ]


@pytest.mark.parametrize("simulator", ["functional", "verilator"])
def test_a_clear_leaves_nothing_of_a_program(simulator):
    program = random_program(3, preset="tiny", length=30)
    device = open_device(simulator, TINY, memory_bytes=1 << 18)
    for content in program.contents:
        device.write(content.region.address, content.bytes())
    device.run(program.commands)
    commands, size = dump()
    device.run(commands)
    assert any(device.read(DUMP, size))
    device.write(ZEROS, bytes(zeros_needed(TINY)))
    device.run(clear_commands(TINY, ZEROS))
    device.run(commands)
    assert device.read(DUMP, size) == bytes(size)
    device.write(MEMORY_BASE, bytes([1]) * DIM * DIM)
    device.run([*weights_are_zero(), FENCE.encode()])
    device.run(commands)
    assert not any(device.read(DUMP + DIM * TINY.scratchpad_rows, DIM * DIM * ACC_BYTES))
    device.close()


@pytest.mark.parametrize("preset", PRESETS)
def test_a_clear_is_legal(preset):
    config = PRESETS[preset]
    state = ArchState.reset(config)
    for command in clear_commands(config, ZEROS):
        done = step(command, state, config)
        assert not done.cause
        state = done.state


@pytest.mark.parametrize("config", [TINY, PRESETS["base"], FEW_ROWS], ids=["tiny", "base", "few"])
def test_statistics_of_every_row_begin_and_end(config):
    """Also where a memory has fewer rows than there are statistics; nothing else shows them."""
    state, covered = ArchState.reset(config), {Function.MAXIMUM: [], Function.MOMENTS: []}
    for command in clear_commands(config, ZEROS):
        done = step(command, state, config)
        state = done.state
        if isinstance(done.operation, Transform):
            fields = done.operation.state.fields["config_transform"]
            assert (fields["start"], fields["finish"]) == (1, 1)
            first, local = fields["statistics"], done.operation.local
            rows = config.accumulator_rows if local.accumulator else config.scratchpad_rows
            assert local.row + done.operation.rows <= rows
            covered[Function(fields["function"])] += range(first, first + done.operation.rows)
    every = [*range(config.statistics_rows)] if config.normalization else []
    assert [*covered.values()] == [every, every]
