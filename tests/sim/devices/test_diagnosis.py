"""What is said of an accelerator that stopped: each clause by itself."""

from typing import Any

import pytest

from celosia.isa.encoding import CONFIG_EX, FENCE, FLUSH, REPEAT
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.sim.devices import diagnosis
from celosia.sim.devices.diagnosis import Stop, device_error, last_commands, who_waits
from celosia.sim.verilator.harness.binding import State, Status
from celosia.sw.driver.host import ErrorReport, Queues

CONFIG = PRESETS["tiny"]
PROGRAM = [FENCE.encode(), CONFIG_EX.encode(), FLUSH.encode()] * 4
NOTHING = {"load": 0, "execute": 0, "store": 0, "transform": 0}


def stop(state: State = State.DONE, *, message: str = "", reads=0, writes=0, **values) -> Stop:
    status = Status(
        state=state,
        message=message.encode(),
        reads_in_flight=reads,
        writes_in_flight=writes,
        now=77,
    )
    given: dict[str, Any] = {"first": 0, "accepted": len(PROGRAM), "patience": 12_345} | values
    return Stop(status, **given)


def queues(queued=None, waits=None, **values) -> Queues:
    return Queues(queued=NOTHING | (queued or {}), waits=NOTHING | (waits or {}), **values)


def report(cause: Cause, *, command: int = 0, address: int = 0, bus_id: int = 0) -> ErrorReport:
    return ErrorReport(cause=cause, bus_id=bus_id, command=command, address=address)


@pytest.mark.parametrize(
    ("standing", "clauses"),
    [
        (stop(), ["no controller has anything queued"]),
        (
            stop(reads=1, writes=2),
            [
                "no controller has anything queued",
                "1 read burst in flight",
                "2 write bursts in flight",
            ],
        ),
        (
            stop(queues=queues({"load": 1, "execute": 3}, {"execute": 0b0101})),
            [
                "load (1 queued) runs, but makes no progress",
                "execute (3 queued) waits for load and store",
            ],
        ),
        (
            stop(queues=queues({"load": 1, "store": 2, "execute": 1}), reads=2, writes=1),
            [
                "load (1 queued) waits for memory: 2 read bursts in flight",
                "execute (1 queued) runs, but makes no progress",
                "store (2 queued) waits for memory: 1 write burst in flight",
            ],
        ),
        (
            stop(queues=queues({"load": 1, "store": 1}, token="a token", loops="the loops")),
            ["a token", "store (1 queued) runs, but makes no progress", "the loops"],
        ),
        (
            stop(queues=queues({"store": 1}), error=report(Cause.SHAPE)),
            ["store (1 queued) waits for nothing, and was halted"],
        ),
        (
            stop(queues=queues({"store": 1}), error=report(Cause.WATCHDOG)),
            ["store (1 queued) runs, but makes no progress"],
        ),
        (
            stop(queues=queues(), writes=1),
            ["no controller has anything queued", "1 write burst in flight"],
        ),
    ],
)
def test_each_controller_with_something_to_do_has_a_clause(standing, clauses):
    assert sorted(who_waits(standing)) == sorted(clauses)


def test_the_registers_name_the_command_that_failed():
    error = device_error(PROGRAM, CONFIG, stop(error=report(Cause.SHAPE, command=13), first=12))
    assert (error.cause, error.command) == (Cause.SHAPE, 1)
    assert "SHAPE" in str(error)
    assert str(error).endswith("command 1: config_ex")
    assert "address" not in str(error)
    assert "bus ID" not in str(error)


def test_a_command_before_the_program_is_not_of_it():
    error = device_error(PROGRAM, CONFIG, stop(error=report(Cause.SHAPE, command=3), first=4))
    assert str(error).endswith("command -1: not of this program")


@pytest.mark.parametrize(
    ("cause", "bus_id", "told"),
    [
        (Cause.READ_RESPONSE, 0, True),
        (Cause.WRITE_RESPONSE, 3, True),
        (Cause.READ_LIMIT, 2, True),
        (Cause.READ_LIMIT, 0, False),
    ],
)
def test_a_response_that_failed_has_a_bus_id(cause, bus_id, told):
    found = device_error(PROGRAM, CONFIG, stop(error=report(cause, address=0x40, bus_id=bus_id)))
    assert "at address 0x40" in str(found)
    assert (f"bus ID {bus_id}" in str(found)) is told


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (State.PROTOCOL, "bus protocol broken by the accelerator: it is bad; "),
        (State.ASSERTION, "assertion in the RTL at cycle 77: it is bad; "),
        (State.DONE, "watchdog: no progress for 12,345 cycles: no controller has anything "),
    ],
)
def test_what_the_bench_saw_comes_first(state, words):
    error = device_error(PROGRAM, CONFIG, stop(state, message="it is bad\n", accepted=2))
    assert str(error).startswith(words)
    assert str(error).endswith("last command accepted: 1: config_ex (10 to come)")
    assert (error.cause, error.command) == (Cause.NONE, 1)


def test_the_watchdog_of_the_registers_says_who_waits():
    error = device_error(PROGRAM, CONFIG, stop(error=report(Cause.WATCHDOG), issued=3))
    assert error.cause is Cause.WATCHDOG
    assert str(error).startswith("watchdog: no progress")
    assert str(error).endswith("last command accepted: 2: flush (9 to come)")
    assert error.command == 2


@pytest.mark.parametrize("known", [{"accepted": 0}, {"issued": 0}])
def test_nothing_may_have_been_accepted(known):
    error = device_error(PROGRAM, CONFIG, stop(**known))
    assert str(error).endswith("none of 12 commands was accepted")
    assert error.command is None


@pytest.mark.parametrize("known", [{"accepted": 10}, {"accepted": 12, "issued": 10}])
def test_the_last_eight_commands_are_shown(known):
    shown = last_commands(PROGRAM, CONFIG, stop(**known))
    words = ("fence", "config_ex", "flush")
    assert shown == tuple((number, words[number % 3]) for number in range(2, 10))
    assert last_commands(PROGRAM, CONFIG, stop(accepted=2)) == shown_of(2)
    assert last_commands(PROGRAM, CONFIG, stop(issued=2)) == shown_of(2)


def shown_of(count: int) -> tuple[tuple[int, str], ...]:
    return tuple(enumerate(("fence", "config_ex", "flush")[:count]))


def test_commands_are_numbered_as_loops_issue_them():
    config = CONFIG.with_values({"loop_entries": 16})
    program = [REPEAT.encode(count=5, length=2), FENCE.encode(), FLUSH.encode()]
    shown = last_commands(program, config, stop(accepted=3, issued=4))
    assert [number for number, _ in shown] == [0, 1, 2, 3]
    assert [text.split()[0] for _, text in shown] == ["fence", "flush", "fence", "flush"]
    error = device_error(program, config, stop(accepted=3, issued=4))
    assert "last command accepted: 3: flush" in str(error)
    assert str(error).endswith("(6 to come)")


@pytest.mark.parametrize(
    ("count", "left"), [(1, "0"), (3, "4"), (4, "6 or more"), (1 << 20, "6 or more")]
)
def test_commands_that_were_to_come_are_counted_up_to_a_bound(count, left, monkeypatch):
    """A body of two commands, of which two have come."""
    monkeypatch.setattr(diagnosis, "_MOST_TO_COME", 6)
    config = CONFIG.with_values({"loop_entries": 16})
    program = [REPEAT.encode(count=count, length=2), FENCE.encode(), FLUSH.encode()]
    error = device_error(program, config, stop(accepted=3, issued=2))
    assert str(error).endswith(f"({left} to come)")
    assert "last command accepted: 1: flush" in str(error)


def test_a_million_commands_to_come_are_counted(monkeypatch):
    """To count as many takes seconds: here, as many are there as are counted."""
    monkeypatch.setattr(diagnosis, "expanded_length", lambda program, config, most: most)
    error = device_error([FENCE.encode()], CONFIG, stop(accepted=1, issued=1))
    assert str(error).endswith("(1000000 or more to come)")
