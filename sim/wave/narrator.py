"""Puts into words what the accelerator does."""

from collections import deque
from ctypes import sizeof
from functools import lru_cache
from typing import Final

from celosia.isa.encoding import Command
from celosia.isa.registers.events import ARRAY_OWNERS
from celosia.isa.registers.queues import QUEUES, WAITS
from celosia.sim.verilator.probe import LINES, Probe, pack_lines
from celosia.sw.driver.assembly import format_command

__all__ = ["Narrator"]

_KEPT: Final = 4096
"""Commands remembered: more than can be accepted while one waits to start."""

_UNKNOWN: Final = "?"
_NOTHING: Final = "-"
_IDLE: Final = "idle"
_REASONS: Final = tuple("its unit" if wait == "controller" else wait for wait in WAITS)
"""Names of what an operation waits for, by the bits of `celosia.hw.issue.issue.Waits`."""


class Narrator:
    """Follows the accelerator cycle by cycle, from reset.

    A line holds, in the cycle that it is shown (``-``: nothing):

    * ``command``: the command accepted last;
    * ``load``, ``execute``, ``store``, ``transform``: the oldest operation that the unit has
      started and not finished (a store is finished when its rows have been read), and how many
      others it has;
    * ``load_next``, ...: the head of the queue, and what it waits for;
    * ``array``: the owner of the cycle, of `celosia.isa.registers.events.ARRAY_OWNERS`, or
      ``idle``.
    """

    def __init__(self) -> None:
        self._commands: dict[int, str] = {}
        self._count = 0
        self._running: tuple[deque[str], ...] = tuple(deque() for _ in QUEUES)
        self._lines = dict.fromkeys(LINES, _NOTHING)
        self._packed = pack_lines(self._lines)

    def narrate(self, image: bytes) -> bytes:
        """The lines of the cycle whose `Probe` has the bytes `image`, packed by `pack_lines`.

        Cycles may be left out whose probe is that of the cycle before and has no `event`.
        """
        probe = Probe.from_buffer_copy(image)
        if probe.reset:
            self._count = 0
            for running in self._running:
                running.clear()
        lines = dict(self._lines)
        if probe.accepted:
            lines["command"] = _text(Command(probe.funct, probe.rs1, probe.rs2))
            self._commands[self._count % _KEPT] = lines["command"]
            self._count += 1
        for index, queue in enumerate(QUEUES):
            lines[queue] = self._describe_running(index)
            lines[f"{queue}_next"] = self._describe_head(probe, index)
            self._move(probe, index)
        lines["array"] = ARRAY_OWNERS[probe.owner].name if probe.busy else _IDLE
        if lines != self._lines:
            self._lines, self._packed = lines, pack_lines(lines)
        return self._packed

    def _describe_running(self, index: int) -> str:
        running = self._running[index]
        if len(running) < 2:
            return running[0] if running else _NOTHING
        return f"{running[0]} (+{len(running) - 1})"

    def _describe_head(self, probe: Probe, index: int) -> str:
        if not probe.heads[index]:
            return _NOTHING
        text = self._command(probe.tags[index])
        waits = probe.waits[index]
        reasons = [reason for bit, reason in enumerate(_REASONS) if waits >> bit & 1]
        return f"{text} (waits for {', '.join(reasons)})" if reasons else text

    def _move(self, probe: Probe, index: int) -> None:
        """What happens at the end of the cycle."""
        running = self._running[index]
        if probe.done[index] and running:
            running.popleft()
        if probe.starts[index]:
            running.append(self._command(probe.tags[index]))

    def _command(self, tag: int) -> str:
        return self._commands.get(tag % _KEPT, _UNKNOWN)


@lru_cache(maxsize=_KEPT)
def _text(command: Command) -> str:
    return format_command(command)


assert sizeof(Probe) == 56
