"""What the programs are made of: loads, products, transforms and stores of a few rows."""

from collections.abc import Callable
from typing import Any

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    MVIN,
    MVOUT,
    PRELOAD,
    Command,
    ElementType,
    Function,
)
from celosia.isa.functions.table import FUNCTIONS
from celosia.isa.memory import MEMORY_BASE
from tests.support.causes.case import CONFIG, Program
from tests.support.transforms import transform

__all__ = [
    "BLOCKS",
    "DIM",
    "FAR",
    "FIRST",
    "ONE",
    "READ_ONLY",
    "STAGED",
    "START",
    "THREE",
    "TWO",
    "acc",
    "chain",
    "load",
    "product",
    "steps",
    "store",
    "wide_loads",
    "zeros",
]

DIM = CONFIG.dim
BANK = CONFIG.scratchpad_bank_rows
BLOCKS = CONFIG.max_blocks
START = [CONFIG_EX.encode(), CONFIG_LD.encode(stride=DIM), CONFIG_ST.encode(stride=DIM)]
OUT = MEMORY_BASE + 0x8000
TYPES = {
    Function.EXPONENT: ElementType.UINT8,
    Function.DITHERED_EXPONENT: ElementType.UINT8,
    Function.RESIDUAL: ElementType.INT16,
}
STAGED = tuple(function for function, entry in FUNCTIONS.items() if entry.staged)
READ_ONLY = (Function.MAXIMUM, Function.SUM, Function.MOMENTS)
ONE, TWO, THREE = BANK, 2 * BANK, 3 * BANK
"""The first rows of banks."""
FAR = BANK // 2
"""Rows that nothing else in the bank's first half has anything to do with."""


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
    blocks = count // DIM // FUNCTIONS[function].turns
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


FIRST = product(0, acc(0), w=ONE)
"""A product that has weights, for those that keep them."""


def chain(link: Callable[[int], Program]) -> Callable[[int], Program]:
    """So many links, one after the other."""
    return lambda count: [*FIRST, *(command for index in range(count) for command in link(index))]
