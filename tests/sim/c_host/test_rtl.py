"""The RTL in the C library leaves what the functional simulator leaves."""

from random import Random

import numpy as np
import pytest

from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_EX,
    CONFIG_EXPONENT,
    CONFIG_LD,
    CONFIG_MASK,
    CONFIG_NORM,
    CONFIG_ROWS,
    CONFIG_ST,
    CONFIG_TRANSFORM,
    MVIN,
    MVIN_PARAM,
    MVOUT,
    PRELOAD,
    TRANSFORM,
    Command,
    ElementType,
    Function,
    float_bits,
)
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.numerics import ExponentConstants
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.programs.programs import random_program
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.program_file import random_bytes
from tests.support.c_host import c_host

ACCUMULATOR = 1 << 31
WALKS = (
    (Function.MAXIMUM, ElementType.INT8),
    (Function.EXPONENT, ElementType.UINT8),
    (Function.CONTEXT, ElementType.INT8),
    (Function.MAXIMUM, ElementType.INT8),
    (Function.SUM, ElementType.INT8),
    *((Function.PROBABILITY, kind) for kind in (ElementType.UINT8, ElementType.INT16)),
    *((Function.REQUANTIZE, kind) for kind in ElementType),
)


def expected(commands: list[Command], memory: bytes, preset: str = "tiny") -> bytes:
    device = FunctionalDevice(resolve_config(preset), memory_bytes=len(memory))
    device.write(MEMORY_BASE, memory)
    device.run(commands)
    return device.read(MEMORY_BASE, len(memory))


def test_random_programs():
    """Of all that `tiny` does: moves, products, every function of TRANSFORM, tokens."""
    for seed in range(30):
        program = random_program(seed, preset="tiny", length=150)
        commands, memory = list(program.commands), program.memory_image()
        assert c_host().play(commands, memory) == expected(commands, memory)


@pytest.mark.parametrize("preset", ["tiny", pytest.param("gemmini4", marks=pytest.mark.slow)])
def test_random_loops(preset):
    for seed in range(12):
        program = random_program(seed, preset=preset, length=60, loop_percent=40)
        commands, memory = list(program.commands), program.memory_image()
        wanted = expected(commands, memory, preset)
        assert c_host(preset).play(commands, memory) == wanted


@pytest.mark.slow  # `tests/system/test_differential.py` has one on Amaranth's simulator.
def test_random_programs_of_all_that_gemmini_does():
    for seed in range(40):
        program = random_program(seed, preset="gemmini4", length=80)
        commands, memory = list(program.commands), program.memory_image()
        wanted = expected(commands, memory, "gemmini4")
        assert c_host("gemmini4").play(commands, memory) == wanted


@pytest.mark.slow
def test_repeated_pixels_stay_in_their_half():
    half = resolve_config("gemmini4").scratchpad_rows // 2
    commands = [
        CONFIG_LD.encode(set=0, stride=4, block_stride=4),
        MVIN.encode(dram=MEMORY_BASE, local=half - 4, local_cols=4, local_rows=8),
        CONFIG_LD.encode(set=0, stride=1, block_stride=4, pixel_repeats=4),
        MVIN.encode(dram=MEMORY_BASE + 64, local=half, local_cols=1, local_rows=4),
        CONFIG_ST.encode(stride=4),
        MVOUT.encode(dram=MEMORY_BASE + 128, local=half - 4, local_cols=4, local_rows=8),
    ]
    memory = random_bytes(192, 1)
    wanted = expected(commands, memory, "gemmini4")
    assert wanted[128:144] == memory[:16]
    assert c_host("gemmini4").play(commands, memory) == wanted


@pytest.mark.slow
def test_results_in_the_place_of_operands():
    """Output-stationary products, whose C is their own A, B or D, and an operand of the next."""
    for seed in range(6):
        commands, memory = replacing_program(Random(seed)), random_bytes(2048, seed)
        wanted = expected(commands, memory, "gemmini4")
        assert wanted[1024:] != memory[1024:]
        assert c_host("gemmini4").play(commands, memory) == wanted


def replacing_program(random: Random) -> list[Command]:
    """Products among 4 places of 32 rows: A at any stride up to 8, B and D where it can be C."""
    commands = [CONFIG_LD.encode(set=0, stride=4, block_stride=4), CONFIG_ST.encode(stride=4)]
    rows = range(0, 128, 4)
    size = {"local_rows": 4, "local_cols": 4}
    commands += [MVIN.encode(dram=MEMORY_BASE + 4 * row, local=row, **size) for row in rows]
    for number in range(60):
        places = dict(zip("abd", random.sample(range(0, 128, 32), 3), strict=True))
        replaced = random.choice("abd")
        stride = random.randint(1, 8) if replaced == "a" else 1
        a_transpose = random.randint(0, 1)
        configuration = {"weight_stationary": 0, "a_transpose": a_transpose, "a_stride": stride}
        configuration |= {"c_stride": stride, "b_transpose": a_transpose & random.randint(0, 1)}
        sizes = {f"{x}_{part}": random.randint(1, 4) for x in "abcd" for part in ("rows", "cols")}
        preload = {name: value for name, value in sizes.items() if name[0] in "bc"}
        compute = {name: value for name, value in sizes.items() if name[0] in "ad"}
        stays = number and not random.randint(0, 2)
        product = COMPUTE_ACCUMULATED if stays else COMPUTE_PRELOADED
        commands += [
            CONFIG_EX.encode(shift=random.randint(0, 9), activation=0, **configuration),
            PRELOAD.encode(b=places["d"], c=places[replaced], **preload),
            product.encode(a=places["a"], d=places["b"], **compute),
        ]
    place = MEMORY_BASE + 1024
    return commands + [MVOUT.encode(dram=place + 4 * row, local=row, **size) for row in rows]


def test_random_softmaxes():
    for seed in range(10):
        commands, memory = softmax_program(Random(seed)), random_bytes(8192, seed)
        assert c_host().play(commands, memory) == expected(commands, memory)


def softmax_program(random: Random) -> list[Command]:
    """Walks over 5 rows of up to 9 scores, each of which leaves what it wrote."""
    cols, rows = random.randint(1, 9), 5
    mask = CONFIG_MASK.encode(
        causal=random.randint(0, 1), keys=random.choice([3, 7, 0xFFFF]), first_row=2
    )
    constants, slot = ExponentConstants(), random.randint(0, 9)
    commands = [
        CONFIG_LD.encode(set=0, stride=64, block_stride=8),
        CONFIG_ST.encode(stride=64),
        *(
            MVIN.encode(
                dram=MEMORY_BASE + 16 * block,
                local=ACCUMULATOR + 8 * block,
                local_cols=4,
                local_rows=rows,
            )
            for block in range(3)
        ),
        CONFIG_ROWS.encode(source_stride=8, target_stride=8),
        mask,
        CONFIG_EXPONENT.encode(unit=constants.unit - random.randint(0, 9)),
    ]
    for number, (function, kind) in enumerate(WALKS):
        commands += [
            CONFIG_TRANSFORM.encode(
                function=function,
                type=kind,
                start=1,
                finish=1,
                relu=random.randint(0, 1),
                zero_point=random.randint(0, 255),
                statistics=slot,
                scale=float_bits(random.choice([2.0**-20, 2.0**-24, 3e-6])),
            ),
            TRANSFORM.encode(target=64, local=ACCUMULATOR, local_cols=cols, local_rows=rows),
        ]
        if function not in (Function.MAXIMUM, Function.SUM):
            commands += written(number, cols * (4 if kind is ElementType.INT32 else 1), rows)
    return commands


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_means_that_no_row_has_wrap(channels):
    """Four elements count as fewer channels than they are."""
    size = {"local_cols": 4, "local_rows": 4}
    commands = [
        CONFIG_LD.encode(set=0, stride=4, block_stride=4),
        CONFIG_ST.encode(stride=4),
        *(MVIN.encode(dram=MEMORY_BASE + 16 * n, local=4 * n, **size) for n in range(2)),
        MVIN_PARAM.encode(dram=MEMORY_BASE + 32, row=0, count=16),
        CONFIG_ROWS.encode(source_stride=4, target_stride=4),
        CONFIG_NORM.encode(channels=channels, shift=16),
        CONFIG_TRANSFORM.encode(function=Function.MOMENTS, start=1, finish=1),
        TRANSFORM.encode(local=0, **size),
        CONFIG_TRANSFORM.encode(function=Function.LAYERNORM),
        TRANSFORM.encode(local=0, target=64, **size),
        MVOUT.encode(dram=MEMORY_BASE + 1024, local=64, **size),
    ]
    for seed in range(4):
        # Elements of about 32,000: every second byte is the high one.
        rows = bytes(0x7D if place % 2 else x for place, x in enumerate(random_bytes(32, seed)))
        parameters = np.array([[100] * 4, [0] * 4] * 2, "<i4").tobytes()  # Gamma and beta.
        memory = rows + parameters + random_bytes(2048, seed)
        assert c_host().play(commands, memory) == expected(commands, memory)


def written(number: int, cols: int, rows: int) -> list[Command]:
    """What a walk has written, for as many columns as it has for sure."""
    place = MEMORY_BASE + 1024 + 512 * number
    return [
        MVOUT.encode(
            dram=place + 4 * block,
            local=64 + 8 * block,
            local_cols=min(4, cols - 4 * block),
            local_rows=rows,
        )
        for block in range((cols + 3) // 4)
    ]
