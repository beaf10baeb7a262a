"""A ring of commands in memory that the accelerator fetches itself.

The host fills entries and moves the tail; the accelerator fetches and moves the head.  An entry may
be filled again when the head has passed it; one always stays empty, so that a full ring is not
taken for an empty one.  Entry 0 follows the last one.
"""

from collections.abc import Callable
from typing import Final

from celosia.isa.encoding import RING_ENTRY
from celosia.isa.registers.map import REGISTER_BITS
from celosia.sw.driver.host import Host

__all__ = ["CommandRing", "StoppedError"]

MIN_WAIT: Final = 16
"""Cycles between two looks at the head, at least."""

_ONES: Final = (1 << REGISTER_BITS) - 1


class StoppedError(RuntimeError):
    """The accelerator stopped before it had taken all commands; `Host.error` says why."""


class CommandRing:
    """The host's side of a ring of `entries` commands at address `base`.

    `write` copies bytes into the accelerator's memory.  Raises `ValueError` for a ring that cannot
    be.  The accelerator must be idle, and is told about the ring by `open`.
    """

    def __init__(self, host: Host, write: Callable[[int, bytes], None], base: int, entries: int):
        if base % 8:
            raise ValueError(f"ring: base {base:#x} is not a multiple of 8")
        if not 2 <= entries <= _ONES:
            raise ValueError(f"ring: {entries} entries are not in 2..{_ONES}")
        self.entries = entries
        self._host = host
        self._registers = host.registers
        self._write = write
        self._base = base
        self._tail = self._fed = self._completed = 0

    def open(self) -> None:
        """Tell the accelerator where the ring is, and go on where its head stands.

        Commands must come from the ring (`Host.begin`).
        """
        self._registers.write("RING_BASE", self._base)
        self._registers.write("RING_SIZE", self.entries)
        self._host.enable_interrupts()
        self._host.acknowledge()
        self._tail = self._registers.read("RING_HEAD")
        self._completed = self._registers.read("RING_COMPLETED")
        self._fed = 0

    def feed(self, image: bytes) -> None:
        """Hand over commands (`celosia.isa.encoding.pack_ring`), as entries become free.

        Returns when the doorbell has announced the last one.  Raises `StoppedError`.
        """
        while image:
            waiting = len(image) // RING_ENTRY.size
            free = self._free()
            # By many at once, but while there are enough left to go on with.
            if free >= min(waiting, max(1, self.entries // 4)):
                self._fill(image[: free * RING_ENTRY.size])
                image = image[free * RING_ENTRY.size :]
            # Entries are fetched in every second cycle, at best.
            elif self._host.port.wait(max(MIN_WAIT, self.entries)):
                self._answer_interrupt()

    def finish(self) -> None:
        """Wait until everything that was fed has finished, writes to memory included.

        It waits as long as it takes: WATCHDOG and CYCLE_BUDGET are for programs that never end.
        Raises `StoppedError`.
        """
        while self.completed() != self._fed:
            if self._host.port.wait(_ONES):
                self._answer_interrupt()

    def completed(self) -> int:
        """Commands that have finished since `open`."""
        return self._registers.read("RING_COMPLETED") - self._completed & _ONES

    def _free(self) -> int:
        head = self._registers.read("RING_HEAD")
        return (head - self._tail - 1) % self.entries

    def _fill(self, image: bytes) -> None:
        """Put commands behind the last ones, in two pieces where the ring ends, and say so."""
        count = len(image) // RING_ENTRY.size
        before_end = (self.entries - self._tail) * RING_ENTRY.size
        self._write(self._base + self._tail * RING_ENTRY.size, image[:before_end])
        if image[before_end:]:
            self._write(self._base, image[before_end:])
        self._tail = (self._tail + count) % self.entries
        self._fed += count
        self._registers.write("RING_TAIL", self._tail)
        self._registers.write("RING_DOORBELL", 1)

    def _answer_interrupt(self) -> None:
        if self._host.acknowledge()["error"]:
            raise StoppedError("an error stopped the accelerator")
