"""Runs a program on the native RTL, and keeps what a page needs to run it again and compare."""

import hashlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.run.checks import checked_graph
from celosia.sim.support.progress import Progress, silent
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.driver.device import Issue, RunResult
from celosia.sw.models.cases import Case

__all__ = ["MEMORY_BYTES", "Recording", "WrongResultError", "record"]

MEMORY_BYTES: Final = 1 << 20
"""Memory of a device on the page."""


class WrongResultError(Exception):
    """What a program leaves in memory is not what its graph means: it does not go on a page."""


@dataclass(frozen=True, kw_only=True)
class Recording:
    """A program, and what the native simulator has made of it."""

    memory: bytes
    """Device memory before the run, from its base on, as far as tensors reach."""
    commands: tuple[Command, ...]
    cycles: int
    digest: str
    """SHA-256 of the same bytes of memory after the run, hexadecimal."""


class _Remembering(VerilatorDevice):
    """A device that remembers its last run, and memory before it."""

    before: bytes
    program: tuple[Command, ...]

    def run(
        self, program: Sequence[Command], issue: Issue = "stream", marks: Sequence[int] = ()
    ) -> RunResult:
        """What the device does."""
        self.before = self.read(MEMORY_BASE, self.memory_bytes)
        self.program = tuple(program)
        return super().run(program, issue, marks)


def record(
    case: Case,
    config: AcceleratorConfig,
    timing: MemoryTiming,
    progress: Progress = silent,
) -> Recording:
    """Compile `case`, run it, and compare every tensor that it leaves in memory.

    It is compiled for the usual memory, whatever `timing` it then runs on: a page changes the one
    and not the other.  Raises `WrongResultError` if something differs, `ValueError` if it does not
    fit into `MEMORY_BYTES`.
    """
    name = case.graph.name
    progress(f"compiling {name}", None)
    compiled = compile_graph(case.graph, config, timing=MemoryTiming())
    with closing(_Remembering(config, timing, MEMORY_BYTES, progress)) as device:
        measured = checked_graph(name, device, compiled, case, timing=timing).whole
        if measured.failure or measured.mismatches or measured.cycles is None:
            raise WrongResultError(f"{name}: {measured.failure or 'wrong results'}")
        size = compiled.end - MEMORY_BASE
        return Recording(
            memory=device.before[:size],
            commands=device.program,
            cycles=measured.cycles,
            digest=hashlib.sha256(device.read(MEMORY_BASE, size)).hexdigest(),
        )
