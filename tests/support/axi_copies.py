"""Programs for `AxiBench` that copy rows, and whether they are copied."""

import random

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_LD, CONFIG_ST, FENCE, MVIN, MVOUT, Command
from celosia.isa.memory import MEMORY_BASE
from tests.support.axi_bench import AxiBench

__all__ = ["ISSUES", "STALLS", "copied", "copies", "fill_source", "small"]

ISSUES = ("stream", "ring")
STALLS = {"ar": 0.3, "r": 0.4, "aw": 0.3, "w": 0.4, "b": 0.3}


def small(bus_bits: int = 128) -> AcceleratorConfig:
    return AcceleratorConfig(
        dim=4, scratchpad_kib=1, accumulator_kib=1, parameter_rows=8, bus_bits=bus_bits
    )


def copies(count: int = 4) -> list[Command]:
    """Copies of 4 rows of 4 bytes: those from k*16 on go to 1024 + k*16."""
    program = [
        CONFIG_LD.encode(stride=4, block_stride=4, scale=0x3F80_0000),
        CONFIG_ST.encode(stride=4, scale=0x3F80_0000),
    ]
    for index in range(count):
        place = {"local": 4 * index, "local_rows": 4, "local_cols": 4}
        program.append(MVIN.encode(dram=MEMORY_BASE + 16 * index, **place))
        program.append(MVOUT.encode(dram=MEMORY_BASE + 1024 + 16 * index, **place))
    return [*program, FENCE.encode()]


def fill_source(bench: AxiBench, seed: int = 0) -> None:
    bench.memory.data[:256] = random.Random(seed).randbytes(256)
    bench.memory.data[1024:1280] = bytes(256)


def copied(bench: AxiBench, count: int = 4) -> bool:
    data = bench.memory.data
    return data[1024 : 1024 + 16 * count] == data[: 16 * count]
