"""Where random programs work: regions of memory, local rows, and what an operation touches."""

from dataclasses import dataclass
from random import Random
from typing import Final

from celosia.isa.config import ACC_BYTES, AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.operations import Load, LoadParameters, Operation, Product, Store
from celosia.isa.operations.transforms import Transform
from celosia.isa.state.pooling import Pooling
from celosia.lab.fuzz.programs.commands import Window
from celosia.sw.driver.program_file import Region

__all__ = ["PAGE", "Memory", "accumulator_windows", "memory_span", "regions", "scratchpad_windows"]

PAGE: Final = 4096


@dataclass(frozen=True)
class Memory:
    """Regions of device memory."""

    source: Region
    """The region that programs only read."""
    shared: Region
    """The region that programs read and write."""
    dump: Region
    """Where local rows go at the end."""

    @property
    def regions(self) -> tuple[Region, ...]:
        return self.source, self.shared, self.dump


def memory_span(operation: Operation) -> tuple[int, int] | None:
    """First and last byte of memory that `operation` may touch."""
    match operation:
        case LoadParameters(address=address, count=count):
            return address, address + ACC_BYTES * count - 1
        case Load(zero=True) | Product() | Transform():
            return None
        case Store(pooling=Pooling() as pooling):
            starts = [
                (operation.address + (row * pooling.pitch + col) * operation.stride) % (1 << 64)
                for row in range(pooling.rows)
                for col in range(pooling.cols)
            ]
            return min(starts), max(starts) + operation.cols - 1
        case Load() | Store():
            size = operation.cols * operation.element_bytes
            starts = [
                (operation.address + row * operation.stride) % (1 << 64)
                for row in range(operation.rows)
            ]
            return min(starts), max(starts) + size - 1


def regions(config: AcceleratorConfig, random: Random) -> Memory:
    """Regions at odd addresses, the first two larger than a page."""
    dumped = sum(window.rows for window in scratchpad_windows(config))
    dumped += sum(window.rows for window in accumulator_windows(config)) * ACC_BYTES
    source = Region(MEMORY_BASE + 1 + random.randrange(200), 2 * PAGE)
    shared = Region(source.end + random.randrange(200), PAGE + 300)
    return Memory(source, shared, Region(shared.end + random.randrange(200), dumped * config.dim))


def scratchpad_windows(config: AcceleratorConfig) -> tuple[Window, ...]:
    """Across a boundary of banks, and inside the last bank."""
    rows = min(6 * config.dim, config.scratchpad_bank_rows)
    boundary = config.scratchpad_bank_rows - rows // 2
    return Window(boundary, rows), Window(config.scratchpad_rows - rows, rows)


def accumulator_windows(config: AcceleratorConfig) -> tuple[Window, ...]:
    """Across the boundary of the halves."""
    rows = min(4 * config.dim, config.accumulator_rows)
    return (Window((config.accumulator_rows - rows) // 2, rows),)
