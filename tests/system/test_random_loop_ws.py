"""Random LOOP_WS, one behind the other: the RTL leaves what the functional model leaves."""

import random

import pytest

from celosia.isa.address import LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    CONFIG_BERT,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    FENCE,
    MVIN,
    Command,
    float_bits,
)
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.devices import open_device
from celosia.sw.driver.device import ISSUES, Issue

BOUNDS, ADDRESSES_AB, ADDRESSES_DC, STRIDES_AB, STRIDES_DC = LOOP_WS_CONFIGS
MATRIX = 1 << 16
INPUTS, OUTPUTS = MEMORY_BASE, MEMORY_BASE + 3 * MATRIX
LOOPS = 6
MEMORY_BYTES = (3 + LOOPS) * MATRIX
STALLED = MemoryTiming(latency=11, stall_percent=30)


def program(rng: random.Random, config: AcceleratorConfig) -> list[Command]:
    """Loops that differ in everything but what the commands before them say."""
    turned = rng.choice([(0, 0), (1, 0), (0, 1)])
    low, full, residual = rng.getrandbits(1), rng.getrandbits(1), rng.random() < 0.25
    kinds = [0, 0] if full else [0, 2, 4]
    activation = rng.choice(kinds)
    stride = config.dim * rng.choice([8, 9])
    commands = [
        CONFIG_EX.encode(a_transpose=turned[0], b_transpose=turned[1]),
        *(
            CONFIG_LD.encode(
                set=number,
                stride=stride * (1 if number < 2 or low else 4),
                block_stride=config.dim,
                shrunk=residual if number < 2 else low,
                scale=float_bits(0.7 if residual else 1.0),
            )
            for number in range(3)
        ),
        CONFIG_ST.encode(
            stride=stride * (4 if full else 1),
            scale=float_bits(0.02),
            activation=2 if activation == 2 else 0,
        ),
    ]
    if activation == 4:
        constants = {"constant": 40, "qb": 77, "qc": 2000}, {"second_constant": 1}
        commands += [
            CONFIG_BERT.encode(softmax=1, **{**constants[0], **some}) for some in constants
        ]
    for number in range(LOOPS):
        commands += loop(rng, config, turned, stride, number, {
            "low_d": low, "full_c": full, "residual": residual, "activation": activation,
        })  # fmt: skip
        commands += [FENCE.encode()] * (rng.random() < 0.2)
    return commands


def loop(rng, config, turned, stride, number, flags) -> list[Command]:
    i, j, k = (rng.randint(1, 5) for _ in range(3))
    pads = {f"pad_{name}": rng.randrange(config.dim) for name in "ijk"}
    used = {name: number == 0 or rng.random() < 0.8 for name in "ab"}
    skips = {
        f"skip_{name}": rng.random() < 0.1 for name in ("a", "b", "c", "d", "products") if number
    }
    run = LOOP_WS.encode(
        accumulate=rng.getrandbits(1),
        a_transpose=turned[0],
        b_transpose=turned[1],
        a_half=rng.choice([0, 0, 1, 2]),
        b_half=rng.choice([0, 0, 1, 2]),
        **flags,
        **skips,
    )
    return [
        BOUNDS.encode(i=i, j=j, k=k, **pads),
        ADDRESSES_AB.encode(
            a=used["a"] * (INPUTS + rng.randrange(64)),
            b=used["b"] * (INPUTS + MATRIX + rng.randrange(64)),
        ),
        ADDRESSES_DC.encode(
            d=rng.choice([0, INPUTS + 2 * MATRIX]),
            c=rng.choice([0, *[OUTPUTS + number * MATRIX] * 5]),
        ),
        STRIDES_AB.encode(a_stride=stride, b_stride=stride),
        STRIDES_DC.encode(d_stride=stride, c_stride=stride),
        run,
    ]


def check(preset: str, seeds: range, timing: MemoryTiming, issue: Issue) -> None:
    """Local memories are garbage at first, which loops must not show: each begins with zeros."""
    config = PRESETS[preset]
    functional = open_device("functional", config, timing, MEMORY_BYTES)
    rtl = open_device("verilator", config, timing, MEMORY_BYTES)
    for seed in seeds:
        rng = random.Random(seed)
        image = rng.randbytes(3 * MATRIX) + bytes(LOOPS * MATRIX)
        commands = [*zeros(config), *program(rng, config)]
        results = []
        for device in (functional, rtl):
            device.write(MEMORY_BASE, image)
            device.run(commands, issue)
            results.append(device.read(MEMORY_BASE, MEMORY_BYTES))
        assert results[0] == results[1], seed
    functional.close()
    rtl.close()


def zeros(config: AcceleratorConfig) -> list[Command]:
    """Clears local memories."""
    dim = config.dim
    commands = [CONFIG_LD.encode(set=0, stride=0, block_stride=dim)]
    for accumulator, rows in ((False, config.scratchpad_rows), (True, config.accumulator_rows)):
        commands += [
            MVIN.encode(
                dram=0,
                local=LocalAddress(row=row, accumulator=accumulator).encode(),
                local_cols=dim,
                local_rows=dim,
            )
            for row in range(0, rows, dim)
        ]
    return commands


@pytest.mark.slow
@pytest.mark.parametrize("issue", ISSUES)
def test_loops(issue):
    check("gemmini4", range(40), MemoryTiming(), issue)


@pytest.mark.nightly
@pytest.mark.parametrize("preset", ["gemmini4", "gemmini"])
@pytest.mark.parametrize("timing", [MemoryTiming(), STALLED], ids=["plain", "stalls"])
def test_many_loops(preset, timing):
    check(preset, range(100, 160), timing, "stream")
