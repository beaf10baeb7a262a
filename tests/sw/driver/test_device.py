"""What a device that stopped says."""

import pytest

from celosia.isa.registers.errors import Cause, describe
from celosia.sw.driver.device import DeviceError, RunResult

WORDS = {
    "NONE": "no error",
    "UNKNOWN_FUNCT": "no instruction",
    "UNSUPPORTED": "not built into",
    "LOCAL_RANGE": "leaves the scratchpad, accumulator or parameter memory",
    "SHAPE": "more rows or columns than",
    "READ_LIMIT": "a read outside",
    "WRITE_LIMIT": "a write outside",
    "READ_RESPONSE": "answered a read",
    "WRITE_RESPONSE": "answered a write",
    "OVERLAP": "a destination overlaps",
    "CYCLE_BUDGET": "than CYCLE_BUDGET permits",
    "WATCHDOG": "as WATCHDOG permits",
    "RING_ENTRY": "an entry of the ring is no command",
    "RING_RANGE": "was not below RING_SIZE",
    "SCALE": "a longer mantissa than",
    "LOOP": "a REPEAT, STRIDE or PRODUCTS",
}
"""In the order of their numbers, which drivers in other languages know."""


def test_each_cause_has_its_number_and_says_what_it_is():
    assert [cause.name for cause in Cause] == [*WORDS]
    assert [int(cause) for cause in Cause] == list(range(16))
    for name, words in WORDS.items():
        assert words in describe(Cause[name])


@pytest.mark.parametrize(
    ("address", "bus_id", "place"),
    [
        (0, None, ""),
        (0x8000_0010, None, " at address 0x80000010"),
        (0x8000_0010, 0, " at address 0x80000010, bus ID 0"),
        (0, 3, ", bus ID 3"),
    ],
)
def test_an_error_has_cause_place_and_command(address, bus_id, place):
    error = DeviceError.from_register(Cause.SHAPE, address, 7, "mvin", bus_id)
    assert str(error) == f"SHAPE: {describe(Cause.SHAPE)}{place}: command 7: mvin"
    assert (error.cause, error.command) == (Cause.SHAPE, 7)
    assert (error.stopped, error.begun) == (None, None)
    assert (DeviceError("it ended").cause, DeviceError("it ended").command) == (Cause.NONE, None)


def test_a_notebook_shows_the_counters_that_counted():
    text = RunResult(1234, {"loads": 5, "stores": 0})._repr_html_()
    assert "cycles of the run" in text
    assert "1,234" in text or "1234" in text
    assert "loads" in text
    assert "stores" not in text
