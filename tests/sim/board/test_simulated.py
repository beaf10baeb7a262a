"""The design of a board under Verilator, driven through a pseudo-terminal by the host program."""

import os
import tty
from contextlib import closing
from pathlib import Path

import pytest

from celosia.isa.presets import PRESETS, resolve_config
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.serial import Verb
from celosia.sim.board.device import BoardDevice
from celosia.sim.board.link import SerialLink
from celosia.sim.board.simulated import SimulatedBoard, board_program
from celosia.sw.driver.assembly import parse_command
from celosia.sw.driver.device import DeviceError
from tests.support.command_line import right, valid

pytestmark = pytest.mark.nightly
SMALLER = str(Path(__file__).parents[3] / "examples/ulx3s.toml")


@pytest.fixture(scope="module")
def board():
    with SimulatedBoard(board_program(PRESETS["tiny"])) as simulated:
        yield simulated


@pytest.mark.parametrize(
    "words",
    [
        ("matmul", "--shape", "20x12x16"),
        ("matmul", "--shape", "9x7x5", "--out-type", "int32"),
        ("softmax", "--shape", "8x24"),
        ("attention", "--heads", "2", "--seq", "8", "--dim", "8"),
    ],
)
def test_every_element_is_right(board, words):
    document = valid(right("board", board.path, "run", *words, "--json", "-").stdout)
    assert document["simulator"] == "board"
    assert document["status"] == "right"
    assert document["issue"] == "ring"


def test_a_smaller_one_is_right_too():
    with SimulatedBoard(board_program(resolve_config(SMALLER))) as simulated:
        for words in ("matmul", "--shape", "20x12x16"), ("softmax", "--shape", "8x24"):
            chosen = ("--preset", SMALLER, "--json", "-")
            document = valid(right("board", simulated.path, "run", *words, *chosen).stdout)
            assert document["status"] == "right"


def test_an_error_is_told_and_the_next_run_is_right(board):
    with closing(BoardDevice(PRESETS["tiny"], SerialLink(board.path, 1_000_000))) as device:
        bad = parse_command("mvin dram=0x1000 local=sp[0] local_cols=4 local_rows=4")
        with pytest.raises(DeviceError, match="READ_LIMIT") as caught:
            device.run([bad])
        assert caught.value.cause is Cause.READ_LIMIT
    test_every_element_is_right(board, ("matmul", "--shape", "4x4x4"))


def test_garbage_on_the_line_is_passed_over(board):
    line = os.open(board.path, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(line)
    os.write(line, bytes(range(256)))
    os.close(line)
    with SerialLink(board.path, 1_000_000) as link:
        link.ask(Verb.WRITE, 3, payload=b"still here")
        assert link.ask(Verb.READ, 3, 10).payload == b"still here"
