"""`celosia fpga --board`: what is refused before any work."""

from pathlib import Path

import pytest

from celosia.sim.command.hardware.board_build import BoardWords
from celosia.sim.export.silicon.fpga.bitstream import Clock
from celosia.sim.export.silicon.fpga.boards import board_of
from tests.support.command_line import refused


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--board", "ulx3s-85g", "--out", "a.bit"), "there is no such board; there are ulx3s-85f"),
        (("--board", "ulx3s-85f"), "where shall the bitstream go? Give --out FILE.bit"),
        (("--out", "a.bit"), "--out a.bit: a bitstream is that of a --board"),
        (("--board", "ulx3s-85f", "--out", "no/such/a.bit"), "there is no directory"),
        (
            ("--board", "ulx3s-85f", "--out", "a.bit", "--baud", "9000000"),
            "baud: 9000000 is not in 1..2500000",
        ),
        (
            ("--board", "ulx3s-85f", "--out", "a.bit", "--memory-kib", "100"),
            "memory: 102400 bytes are not a power of two",
        ),
        (
            ("--board", "ulx3s-85f", "--out", "a.bit", "--device", "ecp5-85k"),
            "--device ecp5-85k: a board has its own FPGA",
        ),
    ],
)
def test_bad_input(tmp_path, monkeypatch, words, message):
    monkeypatch.chdir(tmp_path)
    refused(message, "fpga", *words)


@pytest.mark.parametrize(
    ("mhz", "hertz"), [(4.1, 4_100_000), (8.2, 8_200_000), (33.3333, 33_333_300), (20, 20_000_000)]
)
def test_the_setup_has_the_clock_to_the_hertz(mhz, hertz):
    """4.1 MHz are a little less than that in binary, and the host reads the hertz."""
    words = BoardWords(board_of("ulx3s-85f"), "ulx3s-85f", 25, 115_200, 1 << 17, Path("a.bit"))
    setup = words.setup(Clock(mhz, ""))
    assert (setup.clock_hz, setup.baud, setup.memory_bytes) == (hertz, 115_200, 131_072)
