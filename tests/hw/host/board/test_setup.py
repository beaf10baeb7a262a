"""`BoardSetup`: what cannot be is refused with the numbers."""

import pytest

from celosia.hw.host.board.setup import BoardSetup


@pytest.mark.parametrize(
    ("clock_hz", "baud", "memory_bytes", "message"),
    [
        (8_000_000, 2_000_000, 4096, r"baud: 2000000 is not in 1..1000000"),
        (8_000_000, 0, 4096, "baud: 0 is not in"),
        (10_000_000, 1_200_000, 4096, "cannot be made of 10 MHz: the nearest is 1250000"),
        (8_000_000, 1_000_000, 5000, "memory: 5000 bytes are not a power of two"),
        (8_000_000, 1_000_000, 512, "memory: 512 bytes"),
    ],
)
def test_what_is_refused(clock_hz, baud, memory_bytes, message):
    with pytest.raises(ValueError, match=message):
        BoardSetup(clock_hz=clock_hz, baud=baud, memory_bytes=memory_bytes)


def test_the_cycles_of_a_bit():
    setup = BoardSetup(clock_hz=20_000_000, baud=115_200, memory_bytes=1 << 17)
    assert setup.divisor == 174
    assert (setup.greeting.clock_hz, setup.greeting.memory_bytes) == (20_000_000, 1 << 17)
