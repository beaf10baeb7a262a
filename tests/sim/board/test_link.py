"""`SerialLink` with a board at a pseudo-terminal that is deaf, noisy or strange."""

import os
import tty
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from celosia.isa.registers.serial import Greeting, Verb
from celosia.sim.board import link as links
from celosia.sim.board.link import LinkError, SerialLink
from celosia.sim.support.problems import InputError
from tests.support.pretended_board import PretendedBoard


@pytest.mark.parametrize("noise", [b"", b"\xc0\xdb\x00garbage\xc0\xc0", b"\xdb"])
def test_a_board_is_heard_through_noise(noise):
    noisy = PretendedBoard({0x10: 0xCAFE}, noise=noise)
    with noisy as board, SerialLink(board.path, 115_200) as link:
        assert link.greeting == Greeting(8_000_000, 1 << 16)
        link.ask(Verb.WRITE, 7, payload=b"\xc0\xdb\xdc")
        assert link.ask(Verb.READ, 6, 5).payload == b"\0\xc0\xdb\xdc\0"
        assert link.ask(Verb.READ_REGISTER, 0x10, 4).payload == b"\xfe\xca\0\0"
        assert link.repeated == 0


def test_a_request_that_is_lost_is_repeated():
    deaf = PretendedBoard({}, deaf=(1,))
    with deaf as board, SerialLink(board.path, 1_000_000, patience=0.1) as link:
        link.ask(Verb.WRITE, 0, payload=b"x")
        assert link.repeated == 1
    assert board.requests == [Verb.HELLO, Verb.WRITE, Verb.WRITE]


def test_a_slow_board_has_more_time_at_each_try():
    slow = PretendedBoard({}, delay=0.3)
    with slow as board, SerialLink(board.path, 1_000_000, patience=0.1) as link:
        assert link.greeting == Greeting(8_000_000, 1 << 16)
        assert link.repeated > 0


def test_an_answer_has_four_times_as_long_as_its_bits_need_and_twice_that_at_each_try(monkeypatch):
    """A byte has ten bits on a line."""
    written: list[bytes] = []
    ends: list[float] = []
    with PretendedBoard({}) as board, SerialLink(board.path, 10_000, patience=0.5) as link:
        monkeypatch.setattr(link._port, "write", written.append)
        monkeypatch.setattr(link, "_reply", ends.append)
        monkeypatch.setattr(links, "time", SimpleNamespace(monotonic=lambda: 100.0))
        with pytest.raises(LinkError, match="nothing answers"):
            link.ask(Verb.READ, 0, 1000)
    first = 0.5 + 4 * 10 * (len(written[0]) + 1000) / 10_000
    assert [end - 100 for end in ends] == pytest.approx([first, 2 * first, 4 * first, 8 * first])


def test_nothing_answers():
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    try:
        with pytest.raises(LinkError, match=r"nothing answers at 1,000,000 baud, asked 4 times"):
            SerialLink(os.ttyname(theirs), 1_000_000, patience=0.05)
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.parametrize("lost", [3, 4])
def test_a_request_is_sent_four_times_in_all(lost):
    """The greeting is the first request; of the write, so many are lost."""
    deaf = PretendedBoard({}, deaf=tuple(range(1, 1 + lost)))
    refused = pytest.raises(LinkError, match="asked 4 times") if lost == 4 else nullcontext()
    with deaf as board, SerialLink(board.path, 1_000_000, patience=0.02) as link, refused:
        link.ask(Verb.WRITE, 0, payload=b"x")
    assert board.requests == [Verb.HELLO, *[Verb.WRITE] * 4]


def test_another_version():
    other = Greeting(8_000_000, 4096, version=9)
    with PretendedBoard({}, greeting=other) as board:
        for _ in range(2):  # The port was given back.
            with pytest.raises(LinkError, match="version 9 of the serial link, this host 1"):
                SerialLink(board.path, 1_000_000)


def test_no_such_port(tmp_path):
    with pytest.raises(InputError, match="nosuch: cannot be opened as a serial port: No such file"):
        SerialLink("/dev/nosuch", 1_000_000)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be opened as a serial port"):
        SerialLink(str(tmp_path / "file"), 1_000_000)
