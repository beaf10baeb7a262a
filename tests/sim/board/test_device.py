"""`BoardDevice` on a pretended board: memory, identity, and what it refuses."""

import pytest

from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import REGISTERS, configuration_words
from celosia.isa.registers.serial import Verb
from celosia.sim.board.device import RING_BYTES, BoardDevice, BoardPort
from celosia.sim.board.link import SerialLink
from celosia.sim.support.problems import InputError
from celosia.sw.driver.assembly import parse_command
from celosia.sw.driver.registers import RegisterError
from tests.support.pretended_board import PretendedBoard

TINY = PRESETS["tiny"]


def registers(config):
    table = {each.offset: each.reset for each in REGISTERS.values() if each.reset is not None}
    words = configuration_words(config)
    return table | {REGISTERS[name].offset: word for name, word in words.items()}


def test_memory_is_written_and_read_in_pieces():
    with PretendedBoard(registers(TINY)) as board, SerialLink(board.path, 1_000_000) as link:
        device = BoardDevice(TINY, link)
        assert device.memory_bytes == (1 << 16) - RING_BYTES
        data = bytes(index % 251 for index in range(3000))
        device.write(MEMORY_BASE + 5, data)
        assert board.memory[5:3005] == data
        assert device.read(MEMORY_BASE + 4, 3002) == b"\0" + data + b"\0"
        assert board.requests.count(Verb.WRITE) == board.requests.count(Verb.READ) == 3
        for address, size in ((MEMORY_BASE - 1, 1), (MEMORY_BASE + device.memory_bytes, 1)):
            with pytest.raises(InputError, match="the board's memory: 1 bytes at"):
                device.read(address, size)
            with pytest.raises(InputError, match="the board's memory: 1 bytes at"):
                device.write(address, b"x")
        with pytest.raises(ValueError, match="issue: stream: commands reach a board from the ring"):
            device.run([], "stream")


def test_the_first_and_the_last_byte_of_memory_are_within_it():
    with PretendedBoard(registers(TINY)) as board, SerialLink(board.path, 1_000_000) as link:
        device = BoardDevice(TINY, link)
        last = MEMORY_BASE + device.memory_bytes - 1
        for address in (MEMORY_BASE, last):
            device.write(address, b"x")
            assert device.read(address, 1) == b"x"
        assert len(device.read(MEMORY_BASE, device.memory_bytes)) == device.memory_bytes
        for address, size in ((MEMORY_BASE - 1, 2), (last, 2), (MEMORY_BASE, -1)):
            with pytest.raises(InputError, match=f"not within {MEMORY_BASE:#x}..{last:#x}"):
                device.read(address, size)


def test_an_accelerator_of_another_configuration():
    wrong = pytest.raises(InputError, match=r"CONFIG_ARRAY: .* another one: dim = 8, not 4")
    small = PretendedBoard(registers(PRESETS["small"]))
    with small as board, SerialLink(board.path, 1_000_000) as link, wrong:
        BoardDevice(TINY, link)


def test_a_register_that_is_refused():
    refused = pytest.raises(RegisterError, match="register 0xff0: it may not be read")
    with PretendedBoard({}) as board, SerialLink(board.path, 1_000_000) as link, refused:
        BoardPort(link).read_word(0xFF0)


@pytest.mark.parametrize("begun", [0, 3])
def test_an_error_says_how_many_commands_had_begun(begun):
    """The board's own counter knows: a profile of what ran before counts none of the others."""
    table = registers(TINY) | {
        REGISTERS["ERROR"].offset: Cause.READ_LIMIT,
        REGISTERS["COUNTER_COMMANDS_LO"].offset: begun,
        REGISTERS["COUNTER_COMMANDS_HI"].offset: 0,
    }
    program = [parse_command("fence")] * 5
    with PretendedBoard(table) as board, SerialLink(board.path, 1_000_000) as link:
        error = BoardDevice(TINY, link)._error(program)
    assert (error.cause, error.begun) == (Cause.READ_LIMIT, begun)
