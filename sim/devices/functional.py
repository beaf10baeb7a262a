"""The functional model: executes command words on NumPy arrays, without a clock."""

import time
from collections.abc import Sequence

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import FENCE, Command
from celosia.isa.encoding.tokens import COUNT_MASK, TOKENS
from celosia.isa.execution.machine import Machine
from celosia.isa.execution.nests import execute_nest
from celosia.isa.execution.transform import LongScaleError
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.operations.loops import LoopState, unroll
from celosia.isa.operations.operations import Load, LoadParameters, Operation, Store
from celosia.isa.operations.product_nest import ProductNest
from celosia.isa.operations.semantics import step
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState
from celosia.sim.devices.flat_memory import FlatMemory, OutsideMemoryError
from celosia.sim.support.progress import Progress, silent
from celosia.sw.driver.device import DeviceError, Issue, RunResult
from celosia.sw.driver.expansion import Issued, check_program

__all__ = ["FunctionalDevice"]

_TOLD = 10_000
"""Commands after which somebody is told how many there were; a program may have billions."""


class FunctionalDevice:
    """A `Device` that leaves what each command, loops expanded, leaves before the next one.

    Memory (all zero at first), local memories (garbage made from `seed` at first), weights in the
    array, configuration and tokens keep their contents from one `run` to the next.  A command that
    breaks a rule, whose rows leave memory, or that waits for stores which are not before it, does
    nothing and ends the run; later ones do not start, and configuration and tokens are as after a
    reset.
    """

    name = "functional"

    def __init__(
        self,
        config: AcceleratorConfig,
        *,
        memory_bytes: int = 64 << 20,
        seed: int = 0,
        whole: bool = True,
        progress: Progress = silent,
    ):
        """`whole`: execute PRODUCTS as products of matrices, which is faster and leaves the same.

        Otherwise each of its commands is executed on its own.
        """
        self._progress = progress
        self.config = config
        self.whole = whole
        self.memory_bytes = memory_bytes
        self._memory = FlatMemory(MEMORY_BASE, memory_bytes)
        self.machine = Machine(config, self._memory, seed)
        """The state of local memories, for tests to look at."""
        self.state = ArchState.reset(config)
        """Configuration after the last command."""
        self.tokens = [0] * TOKENS
        """Stores that have finished, by counter."""
        self._loops = LoopState()
        self._budget = 0

    def limit_cycles(self, budget: int) -> None:
        """Stop programs with CYCLE_BUDGET after so many commands, loops expanded; 0: never."""
        self._budget = budget

    def write(self, address: int, data: bytes) -> None:
        """Copy `data` into device memory.  Raises `ValueError` outside of it."""
        self._memory.write(address, data)

    def read(self, address: int, size: int) -> bytes:
        """Copy `size` bytes out of device memory.  Raises `ValueError` outside of it."""
        return self._memory.read(address, size)

    def run(
        self, program: Sequence[Command], issue: Issue = "stream", marks: Sequence[int] = ()
    ) -> RunResult:
        """Execute `program`, which is the same however it is issued.

        Raises `DeviceError` at the first command that cannot be executed, or is over the budget.
        """
        check_program(program, self.config, marks)
        start = time.process_time()
        number = told = 0
        try:
            for entry, unit in unroll(program, self.config, self._loops):
                number += self._take(unit, number, entry, program[entry])
                if number >= told + _TOLD:
                    told = number
                    self._progress(f"executed {number:,} commands", None)
        except DeviceError as error:
            error.begun = error.command
            self.state = ArchState.reset(self.config)
            self.tokens = [0] * TOKENS
            self._loops = LoopState()
            raise
        return RunResult(cycles=None, seconds=time.process_time() - start)

    def _take(self, unit: Command | ProductNest, number: int, entry: int, source: Command) -> int:
        """Execute `unit`, whose first command is the one numbered `number`; returns how many."""
        if isinstance(unit, Command):
            self._step(Issued(number, unit, entry, source))
            return 1
        bounded = self._budget and number + len(unit) > self._budget
        if self.whole and not bounded:
            after = execute_nest(unit, self.state, self.config, self.machine)
            if after is not None:
                self.state = after
                return len(unit)
        for place, command in enumerate(unit.commands()):
            self._step(Issued(number + place, command, entry, source))
        return len(unit)

    def _step(self, issued: Issued) -> None:
        if self._budget and issued.number >= self._budget:
            raise _error(Cause.CYCLE_BUDGET, 0, issued)
        done = step(issued.command, self.state, self.config)
        if done.cause:
            raise _error(done.cause, 0, issued)
        if done.operation is not None:
            self._execute(done.operation, issued)
        elif FENCE.matches(issued.command):
            self.tokens = [0] * TOKENS
        self.state = done.state

    def _execute(self, operation: Operation, issued: Issued) -> None:
        store = isinstance(operation, Store)
        if isinstance(operation, Load | LoadParameters) and (wait := operation.wait):
            finished = self.tokens[wait.token]
            if finished < wait.count:
                what = f"watchdog: {wait.describe(finished)}: command {issued.number}"
                raise DeviceError(f"{what}: {issued.text}", Cause.WATCHDOG, issued.number)
        try:
            self.machine.execute(operation)
        except OutsideMemoryError as outside:
            cause = Cause.WRITE_LIMIT if store else Cause.READ_LIMIT
            raise _error(cause, outside.address, issued) from None
        except LongScaleError:
            raise _error(Cause.SCALE, 0, issued) from None
        if store and operation.signal is not None:
            self.tokens[operation.signal] = (self.tokens[operation.signal] + 1) & COUNT_MASK

    def close(self) -> None:
        """Do nothing: there is nothing to give back."""


def _error(cause: Cause, address: int, issued: Issued) -> DeviceError:
    return DeviceError.from_register(cause, address, issued.number, issued.text)
