"""Why a program stopped, as a report has it."""

from celosia.isa.registers.errors import Cause
from celosia.sim.run.programs.failure import Failure
from celosia.sw.driver.device import DeviceError, RunResult, Stopped


def test_a_failure_has_all_that_the_device_said():
    error = DeviceError("it stopped", Cause.WATCHDOG, 5)
    error.begun = 9
    error.stopped = Stopped(
        result=RunResult(100, {"loads": 3}), waiting=("load waits",), commands=((4, "mvin"),)
    )
    assert Failure.of(error) == Failure(
        message="it stopped",
        cause="WATCHDOG",
        command=5,
        waiting=("load waits",),
        last_commands=((4, "mvin"),),
        until={"loads": 3},
        begun=9,
    )


def test_a_device_without_a_clock_says_less():
    found = Failure.of(DeviceError("it stopped"))
    assert found == Failure(message="it stopped", cause="NONE")
    assert (found.command, found.waiting, found.last_commands) == (None, (), ())
    assert (found.until, found.begun) == ({}, None)
