"""I-GELU, LayerNorm and softmax in passes of MVOUT, against real numbers, and the RTL."""

import math

import numpy as np
import pytest

from celosia.isa.address import LocalAddress
from celosia.isa.bert import NormCommand
from celosia.isa.encoding import CONFIG_BERT, CONFIG_LD, CONFIG_ST, MVIN, MVOUT, Command, float_bits
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import PRESETS
from celosia.sim.devices.devices import open_device

CONFIG = PRESETS["gemmini4"]
BLOCKS = 3
COLS = BLOCKS * CONFIG.dim - 1
SOURCE, TARGET = MEMORY_BASE, MEMORY_BASE + 4096
ROOT_2 = 2**0.5
SIMULATORS = ["functional", pytest.param("verilator", marks=pytest.mark.slow)]
PASSES = {
    "layernorm": (NormCommand.MEAN, NormCommand.INV_STDDEV, NormCommand.RESET),
    "softmax": (NormCommand.MAX, NormCommand.INV_SUM_EXP, NormCommand.RESET),
}


def mvout(row: int, rows: int, command: NormCommand = NormCommand.RESET) -> Command:
    local = LocalAddress(row=row, accumulator=True, norm=command).encode()
    target = TARGET + row * COLS
    return MVOUT.encode(dram=target, local=local, local_rows=rows, local_cols=COLS)


def run(simulator: str, x: np.ndarray, commands: list[Command]) -> np.ndarray:
    """What leaves of the rows of `x`."""
    wide = CONFIG.dim * 4
    loads = [CONFIG_LD.encode(stride=COLS * 4, block_stride=CONFIG.dim)]
    for block in range(BLOCKS):
        cols = min(CONFIG.dim, COLS - block * CONFIG.dim)
        local = LocalAddress(row=block * CONFIG.dim, accumulator=True).encode()
        source = SOURCE + block * wide
        # Block b of MVOUT begins dim rows further: so do these rows, and four of them fit.
        loads.append(MVIN.encode(dram=source, local=local, local_rows=4, local_cols=cols))
    device = open_device(simulator, CONFIG, memory_bytes=8192)
    device.write(SOURCE, x.astype("<i4").tobytes())
    device.run([*loads, *commands])
    got = np.frombuffer(device.read(TARGET, 4 * COLS), np.int8).reshape(4, COLS)
    device.close()
    return got.astype(np.int64)


def in_passes(name: str, scale: float, constants: list[Command]) -> list[Command]:
    """Two rows at a time, a record each, as LOOP_WS has it."""
    activation = {"layernorm": 2, "softmax": 0}[name]
    commands = [CONFIG_ST.encode(stride=COLS, scale=float_bits(scale), activation=activation)]
    commands += constants
    for first in (0, 2):
        for command in PASSES[name]:
            for record in (0, 1):
                commands.append(CONFIG_BERT.encode(statistics=record, statistics_only=1))
                commands.append(mvout(first + record, 1, command))
    return commands


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_layernorm(simulator):
    x = np.random.default_rng(0).integers(-3000, 3000, (4, COLS))
    got = run(simulator, x, in_passes("layernorm", 30.0, []))
    wanted = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True) * 30
    assert np.abs(got - wanted).max() <= 1


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_softmax(simulator):
    scale = 0.02
    a, b, c = 0.3585, 1.353, 0.344
    ln2 = round(math.log(2) / scale)
    polynomial = {"qb": round(b / scale), "qc": round(c / (a * scale**2)), "softmax": 1}
    constants = [
        CONFIG_BERT.encode(constant=ln2, **polynomial),
        CONFIG_BERT.encode(constant=65536 // ln2, second_constant=1, **polynomial),
    ]
    x = np.random.default_rng(1).integers(-150, 150, (4, COLS))
    got = run(simulator, x, in_passes("softmax", 1.0, constants))
    e = np.exp((x - x.max(axis=1, keepdims=True)) * scale)
    assert np.abs(got - 127 * e / e.sum(axis=1, keepdims=True)).max() <= 2
    assert got.max() > 20


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_gelu(simulator):
    step = 0.01
    qb, qc = round(-1.769 / (step / ROOT_2)), round(1 / (-0.2888 * (step / ROOT_2) ** 2))
    factor = step * -0.2888 * (step / ROOT_2) ** 2 / 2
    x = np.random.default_rng(2).integers(-300, 300, (4, COLS))
    commands = [
        CONFIG_ST.encode(stride=COLS, scale=float_bits(factor * 40), activation=3),
        CONFIG_BERT.encode(qb=qb % (1 << 32), qc=qc % (1 << 32)),
        mvout(0, 4),
    ]
    real = x * step
    wanted = real * (1 + np.vectorize(math.erf)(real / ROOT_2)) / 2 * 40
    assert np.abs(run(simulator, x, commands) - wanted).max() <= 2
