"""Programs that make a unit wait for one cause, for as long as a knob says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    CONFIG_TOKEN,
    FENCE,
    FLUSH,
    MVIN,
    MVOUT,
    PRELOAD,
    Command,
    ElementType,
    Function,
)
from celosia.isa.events import function_counter
from celosia.isa.presets import PRESETS
from celosia.sw.driver.device import MEMORY_BASE, MemoryTiming
from tests.support.transforms import transform

__all__ = ["CASES", "CONFIG", "START", "Case"]

CONFIG = PRESETS["tiny"]
DIM = CONFIG.dim
BANK = CONFIG.scratchpad_bank_rows
BLOCKS = CONFIG.max_blocks
START = [CONFIG_EX.encode(), CONFIG_LD.encode(stride=DIM), CONFIG_ST.encode(stride=DIM)]
LATENCY = 12
OUT = MEMORY_BASE + 0x8000
QUEUE = {"load": CONFIG.load_queue, "store": CONFIG.store_queue}

Program = list[Command]


@dataclass(frozen=True, kw_only=True)
class Case:
    """A program with a knob, and how fast counters grow with it."""

    name: str
    program: Callable[[int], Program]
    grows: Mapping[str, int]
    """By counter, cycles for each unit of the knob."""
    knob: tuple[int, int] = (20, 50)
    config: AcceleratorConfig = CONFIG
    timing: Callable[[int], MemoryTiming] = field(
        default=lambda _: MemoryTiming(latency=LATENCY, bytes_per_cycle=CONFIG.bus_bytes)
    )


def latency(cycles: int) -> MemoryTiming:
    return MemoryTiming(latency=cycles, bytes_per_cycle=CONFIG.bus_bytes)


def half_rate(_: int) -> MemoryTiming:
    return MemoryTiming(latency=LATENCY, bytes_per_cycle=CONFIG.bus_bytes // 2)


def acc(row: int, accumulate: bool = False) -> int:
    return LocalAddress(row=row, accumulator=True, accumulate=accumulate).encode()


def load(row: int, rows: int = DIM, cols: int = DIM, dram: int = MEMORY_BASE) -> Command:
    return MVIN.encode(dram=dram, local=row, local_cols=cols, local_rows=rows)


def zeros(row: int, rows: int) -> Command:
    """A load that needs no memory."""
    return load(row, rows, dram=0)


def wide_loads(blocks: int = BLOCKS) -> Command:
    """Rows of several beats each."""
    return CONFIG_LD.encode(stride=blocks * DIM, block_stride=DIM)


def store(row: int, rows: int = DIM, cols: int = DIM) -> Command:
    return MVOUT.encode(dram=OUT, local=row, local_cols=cols, local_rows=rows)


def product(
    a: int,
    c: int,
    rows: int = DIM,
    *,
    w: int = GARBAGE,
    d: int = GARBAGE,
    a_rows: int | None = None,
) -> Program:
    """Without weights, those stay that are there."""
    kind = COMPUTE_ACCUMULATED if w == GARBAGE else COMPUTE_PRELOADED
    size = {"a_rows": rows if a_rows is None else a_rows, "d_rows": rows}
    return [
        PRELOAD.encode(b=w, b_cols=DIM, b_rows=DIM, c=c, c_cols=DIM, c_rows=rows),
        kind.encode(a=a, a_cols=DIM, d=d, d_cols=DIM, **size),
    ]


def steps(function: Function, count: int, source: int, target: int = 0, **settings: Any) -> Program:
    """A TRANSFORM that takes about as many steps, of `DIM` rows."""
    columns = DIM // 2 if function in STAGED else DIM
    blocks = count // DIM // (2 if function is Function.RESIDUAL else 1)
    settings = {"type": TYPES.get(function, ElementType.INT8)} | settings
    strides: dict[str, int] = {
        "source_stride": DIM,
        "target_stride": DIM,
        "residual_stride": 2 * DIM,
    }
    rows = strides | settings.pop("rows", {})
    return transform(
        function,
        shape=(DIM, blocks * columns),
        source=source,
        target=target,
        rows=rows,
        norm={"channels": 64},
        **settings,
    )


TYPES = {Function.EXPONENT: ElementType.UINT8, Function.RESIDUAL: ElementType.INT16}
STAGED = (Function.MOMENTS, Function.LAYERNORM)
READ_ONLY = (Function.MAXIMUM, Function.SUM, Function.MOMENTS)
ONE, TWO, THREE = BANK, 2 * BANK, 3 * BANK
"""The first rows of banks."""
FAR = BANK // 2
"""Rows that nothing else in the bank's first half has anything to do with."""
FIRST = product(0, acc(0), w=ONE)
"""A product that has weights, for those that keep them."""


def waits_for_function(function: Function) -> Callable[[int], Program]:
    """A product that reads what a transform writes, or writes what it reads."""

    def program(count: int) -> Program:
        source = THREE if function in STAGED else acc(0)
        work = steps(function, count, source, TWO, rows={"residual": ONE}, start=1)
        if function in READ_ONLY:
            return work + product(0, source, w=ONE)
        return work + product(TWO, acc(256), w=ONE)

    return program


def chain(link: Callable[[int], Program]) -> Callable[[int], Program]:
    """So many links, one after the other."""
    return lambda count: [*FIRST, *(command for index in range(count) for command in link(index))]


ARRAY = (
    Case(
        name="rows",
        program=lambda n: product(0, acc(0), n, w=ONE),
        grows={"array_rows": 1, "read_none": 1, "write_none": 1, "vector_none": 1},
    ),
    Case(
        name="padding",
        program=lambda n: product(0, acc(0), n, w=ONE, a_rows=DIM),
        grows={"array_padding": 1},
    ),
    Case(
        name="weights",
        program=lambda n: product(0, acc(0), 80, w=ONE) + product(0, GARBAGE, 0, w=TWO) * n,
        grows={"array_weights": DIM},
        knob=(3, 12),
    ),
    Case(
        name="d",
        program=lambda n: product(0, acc(0), n, w=ONE, d=TWO),
        grows={"array_d": 1, "array_rows": 1},
    ),
    Case(
        name="weights in A's bank",
        program=lambda n: product(0, acc(0), 80, w=ONE) + product(0, acc(0), 8, w=FAR) * n,
        grows={"wait_bank_weights": DIM, "array_rows": 8},
        knob=(3, 12),
    ),
    Case(
        name="results in A's bank",
        # Only results that are still in the array when the next product begins.
        program=lambda n: FIRST + product(0, TWO, n) + product(TWO + FAR, acc(0), 80),
        grows={"wait_bank_results": 1},
        knob=(2, 9),
    ),
    Case(
        name="issue",
        program=chain(lambda _: [*product(0, acc(0), w=ONE), FENCE.encode()]),
        grows={"wait_issue": 5},
        knob=(4, 14),
    ),
    Case(
        name="an accumulator that is stored",
        program=lambda n: [store(acc(0), n), *product(0, acc(0), n, w=ONE)],
        grows={"wait_accumulator": 1},
    ),
    Case(
        name="a product's result",
        program=chain(lambda i: product(TWO + 8 * i, TWO + 8 * (i + 1))),
        grows={"wait_execute_execute": 2 * DIM + 1},
        knob=(3, 9),
    ),
    Case(
        name="rows that are stored",
        program=lambda n: [store(TWO, n), *product(0, TWO, n, w=ONE)],
        grows={"wait_execute_store": 1},
    ),
    *(
        Case(
            name=function.name.lower(),
            program=waits_for_function(function),
            grows={function_counter("wait", function): 1, function_counter("vector", function): 1},
            knob=(80, 160),
        )
        for function in Function
    ),
)

LINKS = (
    Case(
        name="a load that overwrites results",
        program=chain(lambda _: [*product(0, acc(0), w=ONE), zeros(acc(0), 1)]),
        grows={"wait_load_execute": 2 * DIM + 2},
        knob=(3, 9),
    ),
    Case(
        name="a load that overwrites what is stored",
        program=lambda n: [store(TWO, n), zeros(TWO, n), *product(TWO, acc(0), w=ONE)],
        grows={"wait_load_store": 1, "read_wait_store": 1},
    ),
    Case(
        name="a load that overwrites what is transformed",
        program=lambda n: [
            *steps(Function.MOMENTS, n, TWO, start=1),
            zeros(TWO, n),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={"wait_load_transform": 1, "read_wait_transform": 1},
        knob=(80, 160),
    ),
    Case(
        name="a transform of what is loaded",
        program=lambda _: [
            load(TWO),
            *steps(Function.LAYERNORM, DIM, TWO, THREE),
            *product(THREE, acc(0), w=ONE),
        ],
        grows={"wait_transform_load": 1, "vector_wait_load": 1, "read_latency": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="a transform of results",
        program=chain(
            lambda _: [
                *product(TWO, acc(0), w=ONE),
                *steps(Function.REQUANTIZE, DIM, acc(0), TWO),
            ]
        ),
        grows={"wait_transform_execute": 10},
        knob=(3, 9),
    ),
    Case(
        name="a transform that overwrites what is stored",
        program=lambda n: [
            store(TWO, n),
            *steps(Function.REQUANTIZE, DIM, acc(0), TWO + n - DIM),
            *product(TWO + n - DIM, acc(256), w=ONE),
        ],
        grows={"wait_transform_store": 1, "vector_wait_store": 1},
    ),
)

COMMANDS = (
    Case(
        name="a full queue of products",
        # Of two places: each pair is over sooner in the array than its results are there.
        program=chain(lambda _: [*product(0, acc(0), 1), *product(0, acc(0), 1)]),
        config=CONFIG.with_values({"execute_queue": 2}),
        grows={"wait_queue_execute": 2 * DIM - 1, "array_rows": 2},
        knob=(3, 9),
    ),
    Case(
        name="a full queue of loads",
        program=lambda _: [load(TWO)] * (QUEUE["load"] + 3) + product(0, acc(0), w=ONE),
        grows={"wait_queue_load": 1},
        knob=(60, 110),
        timing=latency,
    ),
    Case(
        name="a full queue of stores",
        program=lambda n: [
            store(TWO, n),
            *[store(TWO)] * (QUEUE["store"] + 3),
            *product(0, acc(0), w=ONE),
        ],
        grows={"wait_queue_store": 1},
        knob=(32, 60),
    ),
    Case(
        name="a full queue of transforms",
        program=lambda n: [
            *steps(Function.MOMENTS, n, TWO, start=1),
            *steps(Function.MOMENTS, DIM, TWO, start=1)[-1:] * (CONFIG.transform_queue + 3),
            *product(0, acc(0), w=ONE),
        ],
        grows={"wait_queue_transform": 1},
        knob=(80, 160),
    ),
    Case(
        name="a fence",
        program=lambda _: [load(TWO), FENCE.encode(), *product(0, acc(0), w=ONE)],
        grows={"wait_fence": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="commands that do nothing",
        program=lambda n: [FLUSH.encode()] * n + product(0, acc(0), w=ONE),
        grows={"wait_command": 1},
    ),
    Case(
        name="the end",
        program=lambda _: [*FIRST, store(acc(0))],
        grows={"drain": 1, "write_latency": 1},
        knob=(40, 90),
        timing=latency,
    ),
)

READS = (
    Case(
        name="the latency of memory",
        program=lambda _: [load(TWO), *product(TWO, acc(0), w=ONE)],
        grows={"wait_load_latency": 1, "read_latency": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="beats",
        program=lambda n: [
            wide_loads(),
            load(TWO, n, BLOCKS * DIM),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={"wait_load_bandwidth": BLOCKS, "read_data": BLOCKS},
        knob=(1, 4),
    ),
    Case(
        name="the bandwidth of memory",
        program=lambda n: [
            wide_loads(),
            load(TWO, n, BLOCKS * DIM),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={
            "wait_load_bandwidth": 2 * BLOCKS,
            "read_data": BLOCKS,
            "read_bandwidth": BLOCKS,
        },
        knob=(1, 4),
        timing=half_rate,
    ),
    Case(
        name="requests in flight",
        program=lambda _: [
            load(TWO, CONFIG.read_requests + 16),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={"wait_load_requests": 1, "read_requests": 1, "read_latency": 1},
        knob=(100, 150),
        timing=latency,
    ),
    Case(
        name="stages",
        program=lambda n: [zeros(TWO, n), *product(TWO, acc(0), w=ONE)],
        grows={"wait_load_stages": 1, "read_stages": 1},
    ),
    Case(
        name="a token",
        program=lambda _: [
            CONFIG_TOKEN.encode(signal=1, signal_id=3, wait=1, wait_id=3, count=1),
            store(TWO),
            load(TWO),
            *product(TWO, acc(0), w=ONE),
        ],
        grows={"wait_token": 1, "read_token": 1, "write_latency": 1, "wait_load_latency": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="a load that overwrites A",
        program=lambda n: [*product(0, acc(0), n, w=ONE), zeros(0, n)],
        grows={"read_wait_execute": 1},
    ),
    Case(
        name="a load in the bank of results",
        program=lambda n: [*FIRST, *product(0, TWO, n), zeros(TWO + FAR, 200)],
        grows={"read_bank_results": 1},
    ),
    Case(
        name="a load in the bank of weights",
        program=lambda n: [zeros(TWO + FAR, 200), *product(0, acc(0), w=TWO) * n],
        grows={"read_bank_weights": DIM},
        knob=(3, 10),
    ),
    Case(
        name="a load in the bank of A",
        program=lambda n: [*product(TWO, acc(0), n, w=ONE), zeros(TWO + FAR, 200)],
        grows={"read_bank_operands": 1},
    ),
    Case(
        name="a load in a bank that is transformed",
        program=lambda n: [
            *steps(Function.MOMENTS, n, TWO, start=1),
            load(TWO + FAR),
            *product(TWO + FAR, acc(0), w=ONE),
        ],
        grows={"wait_bank_transform": 1, "read_bank_transform": 1},
        knob=(80, 160),
    ),
    Case(
        name="a load in a bank that is stored",
        program=lambda n: [
            store(TWO, n),
            load(TWO + FAR),
            *product(TWO + FAR, acc(0), w=ONE),
        ],
        grows={"wait_bank_store": 1, "read_bank_store": 1},
        knob=(32, 60),
    ),
)

WRITES = (
    Case(
        name="beats that leave",
        program=lambda n: [
            CONFIG_ST.encode(stride=BLOCKS * DIM),
            store(TWO, n, BLOCKS * DIM),
        ],
        grows={"write_data": BLOCKS},
        knob=(1, 4),
    ),
    Case(
        name="the bandwidth of writes",
        program=lambda n: [
            CONFIG_ST.encode(stride=BLOCKS * DIM),
            store(TWO, n, BLOCKS * DIM),
        ],
        grows={"write_data": BLOCKS, "write_bandwidth": BLOCKS},
        knob=(1, 4),
        timing=half_rate,
    ),
    Case(
        name="writes in flight",
        program=lambda _: [store(TWO, CONFIG.write_requests + 16)],
        grows={"write_requests": 1, "write_latency": 1},
        knob=(100, 150),
        timing=latency,
    ),
    Case(
        name="the stages of stores",
        program=lambda n: [store(TWO, 1), FENCE.encode()] * n,
        grows={"write_stages": 21},
        knob=(3, 8),
    ),
    Case(
        name="a store in the bank of results",
        program=lambda n: [*FIRST, *product(0, TWO, n), store(TWO + FAR, 60)],
        grows={"write_bank_results": 1},
        knob=(20, 40),
    ),
    Case(
        name="a store in the bank of weights",
        program=lambda n: [store(TWO + FAR, 60), *product(0, acc(0), w=TWO) * n],
        grows={"write_bank_weights": DIM},
        knob=(5, 10),
    ),
    Case(
        name="a store in the bank of A",
        program=lambda n: [*product(TWO, acc(0), n, w=ONE), store(TWO + FAR, 60)],
        grows={"write_bank_operands": 1},
    ),
    Case(
        name="a store in a bank that is transformed",
        program=lambda n: [*steps(Function.MOMENTS, n, TWO, start=1), store(TWO + FAR, 60)],
        grows={"write_bank_transform": 1},
        knob=(80, 160),
    ),
    Case(
        name="a store from a bank that adds a load",
        program=lambda n: [
            CONFIG_LD.encode(shrunk=1),
            zeros(acc(0, accumulate=True), n),
            store(acc(128), 60),
        ],
        grows={"write_bank_load": 1},
        knob=(40, 80),
    ),
    Case(
        name="a store of what is loaded",
        program=lambda _: [load(TWO), store(TWO)],
        grows={"write_wait_load": 1},
        knob=(40, 90),
        timing=latency,
    ),
    Case(
        name="a store of results",
        program=lambda n: [*product(0, acc(0), n, w=ONE), store(acc(0))],
        grows={"write_wait_execute": 1},
    ),
    Case(
        name="a store of what is transformed",
        program=lambda n: [*steps(Function.REQUANTIZE, n, acc(0), TWO), store(TWO, n)],
        grows={"write_wait_transform": 1},
        knob=(80, 160),
    ),
)

VECTORS = (
    Case(
        name="a transform in the bank of results",
        program=lambda n: [
            *FIRST,
            *product(0, TWO, n),
            *steps(Function.MOMENTS, 200, TWO + FAR, start=1),
        ],
        grows={"vector_bank_results": 1},
    ),
    Case(
        name="a transform in the bank of weights",
        program=lambda n: [
            *steps(Function.MOMENTS, 200, TWO + FAR, start=1),
            *product(0, acc(0), w=TWO) * n,
        ],
        grows={"vector_bank_weights": DIM},
        knob=(3, 10),
    ),
    Case(
        name="a transform in the bank of A",
        program=lambda n: [
            *product(TWO, acc(0), n, w=ONE),
            *steps(Function.MOMENTS, 200, TWO + FAR, start=1),
        ],
        grows={"vector_bank_operands": 1},
    ),
    Case(
        name="a transform in the bank of its results",
        program=lambda n: steps(Function.RESIDUAL, n, acc(0), TWO, rows={"residual": TWO + FAR}),
        grows={"vector_residual": 1, "vector_bank_words": 1},
        knob=(120, 240),
    ),
    Case(
        name="a transform of a bank that adds a load",
        program=lambda n: [
            *steps(Function.MAXIMUM, 200, acc(0), start=1),
            zeros(acc(250 - n, accumulate=True), n),
        ],
        grows={"vector_bank_load": 1},
    ),
    Case(
        name="results of several rows",
        program=lambda n: steps(Function.REQUANTIZE, n, acc(0), TWO, type=ElementType.INT16),
        grows={"vector_requantize": 1, "vector_words": 1},
        knob=(80, 160),
    ),
    Case(
        name="results without room",
        program=lambda n: [
            *product(TWO + FAR, acc(256), 100 + n, w=ONE),
            *steps(Function.REQUANTIZE, 80, acc(0), TWO),
        ],
        grows={"vector_room": 1},
        knob=(20, 60),
    ),
    Case(
        name="statistics",
        program=lambda n: [
            *transform(Function.SUM, shape=(n, DIM), source=acc(0), start=1, finish=1),
            *transform(Function.CONTEXT, shape=(n, DIM), source=acc(0), target=TWO),
        ],
        grows={"vector_order": 14},
        knob=(4, 10),
    ),
    Case(
        name="the stages of transforms",
        program=lambda n: (
            [
                *steps(Function.MOMENTS, DIM, TWO, start=1),
                FENCE.encode(),
            ]
            * n
        ),
        grows={"vector_stages": 43},
        knob=(3, 8),
    ),
    Case(
        name="a transform of what an array makes",
        program=lambda n: [
            *product(0, acc(0), n, w=ONE),
            *steps(Function.MAXIMUM, DIM, acc(0), start=1),
        ],
        grows={"vector_wait_execute": 1},
    ),
)

CASES = (*ARRAY, *LINKS, *COMMANDS, *READS, *WRITES, *VECTORS)
