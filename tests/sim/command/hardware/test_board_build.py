"""`celosia fpga --board`: what is refused before any work."""

import pytest

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
