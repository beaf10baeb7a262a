"""What the two RTL simulators have in common: everything but the RTL itself."""

import ctypes
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FUNCT_BITS, RING_ENTRY, Command, pack_ring
from celosia.isa.events import COUNTER_BITS, COUNTERS
from celosia.sim.diagnosis import device_error
from celosia.sim.harness.binding import Inspection, State, Status
from celosia.sim.progress import Progress
from celosia.sw.driver.device import MEMORY_BASE, MemoryTiming, RunResult

__all__ = ["DEFAULT_TIMING", "MEMORY_BYTES", "RtlDevice", "Setup"]

MEMORY_BYTES = 64 << 20
"""Memory of a device, if nothing else is said."""

DEFAULT_TIMING = MemoryTiming()

_BATCH_SECONDS = 0.1


@dataclass(frozen=True)
class Setup:
    """What a device is made from."""

    config: AcceleratorConfig
    timing: MemoryTiming
    memory_bytes: int
    progress: Progress


class RtlDevice(ABC):
    """A `Device` that simulates the RTL, with the bench of `harness/bench.h` around it.

    Memory (all zero at first), local memories (seeded garbage at first) and configuration keep
    their contents from one `run` to the next.  After a run that ended with an error, or was
    interrupted, the accelerator is reset before the next one; memory and local memories stay.
    """

    name: str

    def __init__(self, setup: Setup, library: ctypes.CDLL, handle: int, patience: int):
        self.config = setup.config
        self.timing = setup.timing
        self.memory_bytes = setup.memory_bytes
        self._progress = setup.progress
        self._library = library
        self._handle: int | None = handle
        self._patience = patience
        self._memory: int = library.celosia_memory(handle)
        self._must_reset = False

    @abstractmethod
    def _advance(self, edges: int) -> None:
        """Simulate up to `edges` clock cycles, fewer if the run ends."""

    @abstractmethod
    def _inspect(self) -> Inspection:
        """The accelerator's outputs as they are."""

    @abstractmethod
    def _reset(self) -> None:
        """Reset the accelerator and the bench."""

    @abstractmethod
    def permit(self, base: int, limit: int) -> None:
        """Let programs read and write `base` to `limit`, both included.

        At first that is exactly the device's memory.
        """

    def write(self, address: int, data: bytes) -> None:
        """Copy `data` into device memory.  Raises `ValueError` outside of it."""
        ctypes.memmove(self._host(address, len(data)), bytes(data), len(data))

    def read(self, address: int, size: int) -> bytes:
        """Copy `size` bytes out of device memory.  Raises `ValueError` outside of it."""
        return ctypes.string_at(self._host(address, size), size)

    def run(self, program: Sequence[Command]) -> RunResult:
        """Execute `program` to completion.

        `bench.h` defines which cycles count.  Raises `DeviceError` when the error register is set,
        nothing moves any more, a rule of the memory port is broken or an assertion fails.
        """
        handle = self._open()
        image = _image(program)
        if self._must_reset:
            self._reset()
        self._must_reset = True
        before = self._inspect().counters[:]
        self._library.celosia_load(handle, image, len(image) // RING_ENTRY.size)
        seconds = self._simulate(len(program))
        status, chip = self._status(), self._inspect()
        if status.state != State.DONE:
            raise device_error(program, status, chip, self._patience)
        self._must_reset = False
        return RunResult(status.cycles, _difference(before, chip.counters[:]), seconds)

    def traffic(self) -> dict[str, int]:
        """What the memory has moved since the device was opened: beats, bytes, bursts."""
        counts = self._status().counts
        return {name: getattr(counts, name) for name, *_ in counts._fields_}

    def close(self) -> None:
        """Give back memory.  The device is of no use afterwards."""
        if self._handle is not None:
            self._library.celosia_destroy(self._handle)
            self._handle = None

    def __enter__(self) -> "RtlDevice":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _simulate(self, commands: int) -> float:
        """Run until the run is over; CPU seconds.  Comes up for air every tenth of a second."""
        edges, begin = 100, time.process_time()
        while (status := self._status()).state == State.RUNNING:
            share = status.accepted / commands if commands else 1.0
            self._progress(f"simulated {status.cycles:,} cycles", share)
            start = time.perf_counter()
            self._advance(edges)
            elapsed = time.perf_counter() - start
            edges = max(100, min(4 * edges, int(edges * _BATCH_SECONDS / max(elapsed, 1e-6))))
        return time.process_time() - begin

    def _status(self) -> Status:
        status = Status()
        self._library.celosia_status(self._open(), ctypes.byref(status))
        return status

    def _host(self, address: int, size: int) -> int:
        self._open()
        offset = address - MEMORY_BASE
        if size < 0 or offset < 0 or offset + size > self.memory_bytes:
            last = MEMORY_BASE + self.memory_bytes - 1
            raise ValueError(
                f"memory: {size} bytes at {address:#x} are not within {MEMORY_BASE:#x}..{last:#x}"
            )
        return self._memory + offset

    def _open(self) -> int:
        if self._handle is None:
            raise ValueError(f"the {self.name} device is closed")
        return self._handle


def _image(program: Sequence[Command]) -> bytes:
    for index, command in enumerate(program):
        if not 0 <= command.funct < 1 << FUNCT_BITS:
            raise ValueError(f"command {index}: funct {command.funct} has over {FUNCT_BITS} bits")
    return pack_ring(program)


def _difference(before: Sequence[int], after: Sequence[int]) -> dict[str, int]:
    mask = (1 << COUNTER_BITS) - 1
    return {
        counter.name: (late - early) & mask
        for counter, early, late in zip(COUNTERS, before, after, strict=True)
    }
