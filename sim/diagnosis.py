"""What a simulator says when the accelerator has stopped: who waits for whom, and which command."""

from collections.abc import Sequence

from celosia.isa.encoding import Command
from celosia.isa.errors import Cause
from celosia.sim.harness.binding import UNITS, Inspection, State, Status
from celosia.sw.driver.assembly import format_command
from celosia.sw.driver.device import DeviceError

__all__ = ["device_error", "who_waits"]


def device_error(
    program: Sequence[Command], status: Status, chip: Inspection, patience: int
) -> DeviceError:
    """The exception for a run that did not end well; the watchdog waits `patience` cycles."""
    state = State(status.state)
    if state is State.ERROR_REGISTER:
        return _from_register(program, status, chip)
    message = status.message.decode(errors="replace").strip()
    if state is State.WATCHDOG:
        what = f"watchdog: no progress for {patience:,} cycles: {who_waits(status, chip)}"
    elif state is State.PROTOCOL:
        what = f"memory protocol broken by the accelerator: {message}"
    else:
        what = f"assertion in the RTL at cycle {status.now}: {message}"
    return DeviceError(f"{what}; {_last_command(program, status)}", command=_last_index(status))


def who_waits(status: Status, chip: Inspection) -> str:
    """One clause per controller that has something to do."""
    waiting = [
        f"{unit} ({queued} queued) {_what_for(index, status, chip)}"
        for index, (unit, queued) in enumerate(zip(UNITS, chip.queued, strict=True))
        if queued
    ]
    if not waiting:
        waiting = ["no controller has anything queued"]
        waiting += [bursts for bursts in (_reads(status), _writes(status)) if bursts]
    return "; ".join(waiting)


def _what_for(index: int, status: Status, chip: Inspection) -> str:
    waits = chip.waits[index]
    others = [unit for bit, unit in enumerate(UNITS) if waits >> bit & 1]
    if others:
        return "waits for " + " and ".join(others)
    if bursts := {"load": _reads(status), "store": _writes(status)}.get(UNITS[index]):
        return f"waits for memory: {bursts}"
    return "runs, but makes no progress"


def _reads(status: Status) -> str:
    return _in_flight(status.reads_in_flight, "read")


def _writes(status: Status) -> str:
    return _in_flight(status.writes_in_flight, "write")


def _in_flight(count: int, kind: str) -> str:
    return f"{count} {kind} burst{'s' * (count > 1)} in flight" if count else ""


def _from_register(program: Sequence[Command], status: Status, chip: Inspection) -> DeviceError:
    index = chip.error_tag - status.accepted_before
    known = 0 <= index < len(program)
    text = format_command(program[index]) if known else "not of this program"
    return DeviceError.from_register(Cause(chip.error_cause), chip.error_address, index, text)


def _last_index(status: Status) -> int | None:
    return status.accepted - 1 if status.accepted else None


def _last_command(program: Sequence[Command], status: Status) -> str:
    if not status.accepted:
        return f"none of {len(program)} commands was accepted"
    index = status.accepted - 1
    left = len(program) - status.accepted
    return f"last command accepted: {index}: {format_command(program[index])} ({left} to come)"
