"""The RTL in a simulator, with the bench of `harness/bench.h` around it: clock, pins, registers."""

import ctypes
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Final, Self

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MEMORY_BASE, MemoryFault, MemoryTiming
from celosia.isa.registers.map import REGISTERS
from celosia.sim.support.progress import Progress
from celosia.sim.verilator.harness.binding import Access, Goal, State, Status
from celosia.sim.verilator.harness.settings import fault
from celosia.sw.driver.device import DeviceError
from celosia.sw.driver.registers import RegisterError
from celosia.sw.driver.ring import StoppedError

__all__ = ["Setup", "Simulation"]

_BATCH_SECONDS: Final = 0.1
_FIRST_BATCH: Final = 100
_ACCESS_EDGES: Final = 20_000
"""Cycles after which a register access is given up."""
_ALL_BYTES: Final = 0b1111
_OKAY: Final = 0
_RESPONSES: Final = {2: "SLVERR", 3: "DECERR"}


@dataclass(frozen=True)
class Setup:
    """What a device is made from."""

    config: AcceleratorConfig
    timing: MemoryTiming
    memory_bytes: int
    progress: Progress


class Simulation(ABC):
    """A simulated accelerator and its memory.

    It is a `RegisterPort`: time passes while a register is accessed, and while `wait` waits.
    """

    name: str

    def __init__(self, setup: Setup, library: ctypes.CDLL, handle: int):
        self.config = setup.config
        self.timing = setup.timing
        self.memory_bytes = setup.memory_bytes
        self._progress = setup.progress
        self._library = library
        self._handle: int | None = handle
        self._memory: int = library.celosia_memory(handle)
        for each in setup.timing.faults:
            self.inject(each)

    @abstractmethod
    def _advance(self, edges: int, goal: Goal) -> None:
        """Simulate up to `edges` clock cycles, fewer if `goal` is reached."""

    @abstractmethod
    def _reset(self) -> None:
        """Reset the accelerator and the bench."""

    def write(self, address: int, data: bytes) -> None:
        """Copy `data` into device memory.  Raises `ValueError` outside of it."""
        ctypes.memmove(self._host_address(address, len(data)), bytes(data), len(data))

    def read(self, address: int, size: int) -> bytes:
        """Copy `size` bytes out of device memory.  Raises `ValueError` outside of it."""
        return ctypes.string_at(self._host_address(address, size), size)

    def inject(self, given: MemoryFault) -> None:
        """Let bursts fail from now on; bursts are counted from now on, too."""
        self._library.celosia_add_fault(self._open(), ctypes.byref(fault(given)))

    def forget_faults(self) -> None:
        """Let memory be sound again."""
        self._library.celosia_forget_faults(self._open())

    def read_word(self, offset: int) -> int:
        """The register at `offset`.

        Raises `RegisterError` unless the answer is OKAY, and `DeviceError` if there is none.
        """
        return self._access(Access(0, offset, 0, 0)).data

    def write_word(self, offset: int, word: int, strobe: int = _ALL_BYTES) -> None:
        """Write the bytes of a register that `strobe` chooses.  Raises as `read_word` does."""
        self._access(Access(1, offset, word, strobe))

    def wait(self, cycles: int) -> bool:
        """Simulate until the interrupt is high, at most `cycles`; whether it is.

        Raises `StoppedError` if there is no run, or it is over before.
        """
        self._simulate(Goal.INTERRUPT, cycles)
        status = self._status()
        if status.state != State.RUNNING:
            raise StoppedError("the run is over")
        return bool(status.interrupt)

    def traffic(self) -> dict[str, int]:
        """What the memory has moved since the device was opened: beats, bytes, bursts."""
        counts = self._status().counts
        return {name: getattr(counts, name) for name, *_ in counts._fields_}

    def close(self) -> None:
        """Give back memory.  The device is of no use afterwards."""
        if self._handle is not None:
            self._library.celosia_destroy(self._handle)
            self._handle = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _share(self, status: Status) -> float | None:
        """How much of the run is over."""
        return None

    def _simulate(self, goal: Goal, edges: int | None = None) -> None:
        """Simulate until `goal`, at most `edges`.  Comes up for air every tenth of a second."""
        handle, batch = self._open(), _FIRST_BATCH
        while edges != 0 and self._library.celosia_towards(handle, goal):
            status = self._status()
            if goal is not Goal.ACCESS_OVER:
                self._progress(f"simulated {status.cycles:,} cycles", self._share(status))
            now = batch if edges is None else min(batch, edges)
            start = time.perf_counter()
            self._advance(now, goal)
            elapsed = time.perf_counter() - start
            batch = max(
                _FIRST_BATCH, min(4 * batch, int(now * _BATCH_SECONDS / max(elapsed, 1e-6)))
            )
            edges = None if edges is None else edges - now

    def _access(self, access: Access) -> Status:
        self._library.celosia_access(self._open(), ctypes.byref(access))
        self._simulate(Goal.ACCESS_OVER, _ACCESS_EDGES)
        status = self._status()
        place = f"register {_name(access.address)}"
        if status.accessing:
            reason = status.message.decode(errors="replace") or f"{_ACCESS_EDGES:,} cycles"
            raise DeviceError(f"{place}: no response: {reason}")
        if status.response != _OKAY:
            what = "written" if access.write else "read"
            raise RegisterError(
                f"{place}: {_RESPONSES[status.response]}: it may not be {what}"
                + (" (now)" if access.write else "")
            )
        return status

    def _status(self) -> Status:
        status = Status()
        self._library.celosia_status(self._open(), ctypes.byref(status))
        return status

    def _host_address(self, address: int, size: int) -> int:
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


def _name(offset: int) -> str:
    """The name of the register at `offset`."""
    known = (name for name, register in REGISTERS.items() if register.offset == offset)
    return next(known, f"{offset:#x}")
