"""A master on the simulated memory, edge by edge."""

import ctypes

from celosia.sim.verilator.build import bench_library
from celosia.sim.verilator.harness import binding
from celosia.sim.verilator.harness.binding import (
    Fault,
    MasterPins,
    MemoryConfig,
    MemoryCounts,
    MemoryPins,
)

__all__ = ["BASE", "DECERR", "INCR", "SIZE", "SLVERR", "Bus"]

BASE = 0x1000
SIZE = 0x8000
INCR, SLVERR, DECERR = 1, 2, 3
NORMAL = 0b0011
"""Cache attributes."""


class Bus:
    """A memory, and what the master drives on its channels."""

    def __init__(self, bus_bytes=16, latency=5, bytes_per_cycle=64, stalls=(0,) * 5, **more):
        config = MemoryConfig(
            base=BASE,
            bytes=SIZE,
            bus_bytes=bus_bytes,
            latency=latency,
            bytes_per_cycle=bytes_per_cycle,
            stall_percent=tuple(stalls),
            **more,
        )
        self.bus_bytes = bus_bytes
        self.library = binding.bind(bench_library())
        self.handle = self.library.memory_create(ctypes.byref(config))
        self.master, self.memory = MasterPins(), MemoryPins()
        self.now = 0

    @property
    def contents(self):
        return (ctypes.c_uint8 * SIZE).from_address(self.library.memory_data(self.handle))

    @property
    def error(self):
        return self.library.memory_error(self.handle).decode()

    @property
    def counts(self):
        counts = MemoryCounts()
        self.library.memory_counts(self.handle, ctypes.byref(counts))
        return counts

    def fail(self, place, write=0, by_number=0, response=SLVERR):
        fault = Fault(place=place, write=write, by_number=by_number, response=response)
        self.library.memory_add_fault(self.handle, ctypes.byref(fault))

    def edge(self):
        self.now += 1
        self.library.memory_edge(self.handle, ctypes.byref(self.master), ctypes.byref(self.memory))

    def address(self, channel, address, beats=1, **changes):
        """Put an address on offer."""
        fields = {
            "address": address,
            "beats_minus_1": beats - 1,
            "size": self.bus_bytes.bit_length() - 1,
            "burst": INCR,
            "id": 0,
            "lock": 0,
            "cache": NORMAL,
        }
        for name, value in (fields | changes).items():
            setattr(getattr(self.master, channel), name, value)
        setattr(self.master, f"{channel}_valid", 1)

    def send(self, channel, address, beats=1, **changes):
        """Offer an address until it is taken; the edge that takes it."""
        self.address(channel, address, beats, **changes)
        ready = False
        while not ready and not self.error:
            ready = getattr(self.memory, f"{channel}_ready")
            self.edge()
        setattr(self.master, f"{channel}_valid", 0)
        return self.now

    def beat(self, data, last, strobe=None):
        """Put write data on offer."""
        self.master.w_valid, self.master.w_last = 1, last
        self.master.w_strobe = (1 << self.bus_bytes) - 1 if strobe is None else strobe
        ctypes.memmove(self.master.w_data, bytes(data), len(data))

    def send_beat(self, data, last=1, strobe=None):
        self.beat(data, last, strobe)
        ready = False
        while not ready and not self.error:
            ready = self.memory.w_ready
            self.edge()
        self.master.w_valid = 0
        return self.now

    def read_beats(self, count, patience=2000):
        """Take read beats: for each the edge that takes it, its data, response and `last`."""
        beats, self.master.r_ready = [], 1
        while len(beats) < count and patience:
            offered = MemoryPins.from_buffer_copy(self.memory)
            self.edge()
            patience -= 1
            if offered.r_valid:
                data = bytes(offered.r_data[: self.bus_bytes])
                beats.append((self.now, data, offered.r_response, offered.r_last))
        self.master.r_ready = 0
        return beats

    def response(self, patience=2000):
        """Wait for a write response: the edge that takes it, and what it says."""
        self.master.b_ready = 1
        while patience:
            offered = MemoryPins.from_buffer_copy(self.memory)
            self.edge()
            patience -= 1
            if offered.b_valid:
                self.master.b_ready = 0
                return self.now, offered.b_response
        raise AssertionError("no response")
