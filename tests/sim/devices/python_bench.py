"""A bench that is written in Python: what the library of the simulators does, without RTL."""

import ctypes
from dataclasses import dataclass, field
from typing import Any

from celosia.sim.verilator.harness.binding import Access, Fault, Goal

__all__ = ["HANDLE", "SIZE", "Bench", "Clock"]

SIZE, HANDLE = 64, 7
"""Bytes of device memory, and what stands for a bench in the library."""


@dataclass
class Bench:
    """The functions of the library; it remembers what it was called with."""

    memory: Any = field(default_factory=lambda: ctypes.create_string_buffer(3 * SIZE))
    left: int = 0
    """Cycles until the goal is reached."""
    status: dict[str, Any] = field(default_factory=dict)
    faults: list[tuple[int, bool]] = field(default_factory=list)
    accesses: list[tuple[int, int, int, int]] = field(default_factory=list)
    goals: list[Goal] = field(default_factory=list)
    destroyed: int = 0

    def celosia_memory(self, handle):
        """Device memory is the middle of what there is."""
        assert handle == HANDLE
        return ctypes.addressof(self.memory) + SIZE

    def celosia_add_fault(self, handle, reference):
        made = reference._obj
        assert isinstance(made, Fault)
        self.faults.append((made.place, bool(made.write)))

    def celosia_forget_faults(self, handle):
        self.faults.clear()

    def celosia_access(self, handle, reference):
        made = reference._obj
        assert isinstance(made, Access)
        self.accesses.append((made.write, made.address, made.data, made.strobe))

    def celosia_towards(self, handle, goal):
        self.goals.append(goal)
        return self.left > 0

    def celosia_status(self, handle, reference):
        for name, value in self.status.items():
            setattr(reference._obj, name, value)

    def celosia_destroy(self, handle):
        self.destroyed += 1


class Clock:
    """A clock that advances by so many seconds for each simulated cycle."""

    def __init__(self, seconds_per_cycle: float):
        self.now, self.seconds = 0.0, seconds_per_cycle

    def perf_counter(self) -> float:
        return self.now
