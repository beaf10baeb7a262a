"""The clauses for a stopped accelerator: what each controller waits for, and which command."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command
from celosia.isa.registers.errors import Cause
from celosia.sim.verilator.harness.binding import State, Status
from celosia.sw.driver.assembly import format_command
from celosia.sw.driver.device import DeviceError
from celosia.sw.driver.expansion import expanded_length, issued_command, issued_commands
from celosia.sw.driver.host import ErrorReport, Queues

__all__ = ["Stop", "device_error", "last_commands", "who_waits"]

_LAST: Final = 8
"""Commands that are shown of a program that was stopped."""
_MOST_TO_COME: Final = 1_000_000
"""Commands that are counted of what was still to come: loops may stand for billions."""
_RESPONSES: Final = (Cause.READ_RESPONSE, Cause.WRITE_RESPONSE)


@dataclass
class Stop:
    """How the accelerator stands when a run has not ended well."""

    status: Status
    first: int
    """Number of the program's first command, as the accelerator counts them."""
    accepted: int
    """Commands of the program, as it was written."""
    patience: int
    """Cycles without progress until it is given up."""
    error: ErrorReport | None = None
    queues: Queues | None = None
    """None: its registers cannot be read."""
    issued: int | None = None
    """Commands that reached the decoder; None: its registers cannot be read."""


def device_error(program: Sequence[Command], config: AcceleratorConfig, stop: Stop) -> DeviceError:
    """The exception for a run that did not end well."""
    cause = stop.error.cause if stop.error else Cause.NONE
    if stop.error and cause is not Cause.WATCHDOG:
        return _from_registers(program, config, stop.first, stop.error)
    status = stop.status
    message = status.message.decode(errors="replace").strip()
    state = State(status.state)
    if state is State.PROTOCOL:
        what = f"bus protocol broken by the accelerator: {message}"
    elif state is State.ASSERTION:
        what = f"assertion in the RTL at cycle {status.now}: {message}"
    else:
        what = f"watchdog: no progress for {stop.patience:,} cycles: {'; '.join(who_waits(stop))}"
    accepted = stop.accepted if stop.issued is None else stop.issued
    last = accepted - 1 if accepted else None
    return DeviceError(f"{what}; {_last_command(program, config, stop)}", cause, last)


def who_waits(stop: Stop) -> list[str]:
    """One clause per controller that has something to do."""
    waiting: list[str] = []
    if stop.queues:
        waits = stop.queues.waits
        token = stop.queues.token
        waiting = [
            f"{unit} ({queued} queued) {_what_for(unit, waits, stop)}"
            for unit, queued in stop.queues.queued.items()
            if queued and not (token and unit == "load")
        ]
        waiting = [token, *waiting] if token else waiting
        waiting += [stop.queues.loops] if stop.queues.loops else []
    if not waiting:
        waiting = ["no controller has anything queued"]
        waiting += [bursts for bursts in (_reads(stop.status), _writes(stop.status)) if bursts]
    return waiting


def last_commands(
    program: Sequence[Command], config: AcceleratorConfig, stop: Stop
) -> tuple[tuple[int, str], ...]:
    """The last commands that were accepted: numbers, loops expanded, and texts."""
    if stop.issued is None:  # Where it stands in loops is not known.
        first = max(0, stop.accepted - _LAST)
        known = enumerate(program[first : stop.accepted], first)
        return tuple((number, format_command(command)) for number, command in known)
    first = max(0, stop.issued - _LAST)
    issued = issued_commands(program, config, first, stop.issued - first)
    return tuple((command.number, command.text) for command in issued)


def _what_for(unit: str, waits: Mapping[str, int], stop: Stop) -> str:
    others = [other for bit, other in enumerate(waits) if waits[unit] >> bit & 1]
    if others:
        return "waits for " + " and ".join(others)
    if bursts := {"load": _reads(stop.status), "store": _writes(stop.status)}.get(unit):
        return f"waits for memory: {bursts}"
    stuck = stop.error is None or stop.error.cause is Cause.WATCHDOG
    return "runs, but makes no progress" if stuck else "waits for nothing, and was halted"


def _reads(status: Status) -> str:
    return _in_flight(status.reads_in_flight, "read")


def _writes(status: Status) -> str:
    return _in_flight(status.writes_in_flight, "write")


def _in_flight(count: int, kind: str) -> str:
    return f"{count} {kind} burst{'s' * (count > 1)} in flight" if count else ""


def _from_registers(
    program: Sequence[Command], config: AcceleratorConfig, first: int, error: ErrorReport
) -> DeviceError:
    index = error.command - first
    issued = issued_command(program, config, index)
    text = issued.text if issued else "not of this program"
    bus_id = error.bus_id if error.cause in _RESPONSES or error.bus_id else None
    return DeviceError.from_register(error.cause, error.address, index, text, bus_id)


def _last_command(program: Sequence[Command], config: AcceleratorConfig, stop: Stop) -> str:
    if stop.issued is None:  # Where it stands in loops is not known.
        index, length = stop.accepted - 1, len(program)
        text = format_command(program[index]) if stop.accepted else ""
    else:
        index = stop.issued - 1
        length = expanded_length(program, config, stop.issued + _MOST_TO_COME)
        issued = issued_command(program, config, index)
        text = issued.text if issued else ""
    if not text:
        return f"none of {length} commands was accepted"
    left = length - index - 1
    more = " or more" if left == _MOST_TO_COME else ""
    return f"last command accepted: {index}: {text} ({left}{more} to come)"
