"""The frames of the serial link: what is written is read, and garbage is passed over."""

import random
import zlib

import pytest

from celosia.isa.registers.serial import (
    END,
    ESCAPE,
    MOST_PAYLOAD,
    Greeting,
    Reply,
    Request,
    Result,
    Unframer,
    Verb,
    framed,
)


def test_a_frame_is_slip_around_a_body_and_its_crc():
    body = bytes((1, END, ESCAPE, 2))
    crc = zlib.crc32(body).to_bytes(4, "little")
    assert not set(crc) & {END, ESCAPE}
    assert framed(body) == bytes((0xC0, 1, 0xDB, 0xDC, 0xDB, 0xDD, 2)) + crc + bytes((0xC0,))


@pytest.mark.parametrize("seed", range(5))
def test_bodies_are_found_however_they_are_cut_and_whatever_lies_between(seed):
    rng = random.Random(seed)
    bodies = [rng.randbytes(rng.choice((1, 7, 300, MOST_PAYLOAD))) for _ in range(10)]
    wire = b"".join(rng.randbytes(rng.randrange(20)) + framed(body) for body in bodies)
    unframer, found = Unframer(), []
    while wire:
        cut = rng.randrange(1, 200)
        found += unframer.feed(wire[:cut])
        wire = wire[cut:]
    assert found == bodies


@pytest.mark.parametrize("place", range(1, 12))
def test_a_changed_byte_is_noticed(place):
    wire = bytearray(framed(b"a body"))
    wire[place if place < len(wire) - 1 else 1] ^= 4
    assert list(Unframer().feed(bytes(wire))) == []


def test_the_end_of_a_frame_that_broke_off_behind_an_escape_ends_the_escape_too():
    """The byte behind it stands for itself, though behind an escape it would be another one."""
    body = bytes((0xDC, 1, 0xDD))
    wire = bytes((0xC0, 5, 0xDB)) + framed(body)
    assert list(Unframer().feed(wire)) == [body]


@pytest.mark.parametrize("first", [0xDC, 0xDD, 0xC1])
def test_the_first_frame_may_have_lost_its_first_byte(first):
    """Whoever listens later than the other one speaks has read no escape before."""
    body = bytes((first, 1, 2))
    assert list(Unframer().feed(framed(body)[1:])) == [body]


def test_a_request_and_a_reply():
    request = Request(Verb.WRITE, 7, 0x01020304, 2, b"xy")
    assert request.packed() == bytes((2, 7, 4, 3, 2, 1, 2, 0)) + b"xy"
    assert Reply.unpacked(b"\x07\x82ab") == Reply(7, Result.REFUSED, True, b"ab")
    for wrong in (b"", b"\x01", b"\x01\x7f"):
        with pytest.raises(ValueError, match=r"reply|Result"):
            Reply.unpacked(wrong)


def test_a_greeting():
    greeting = Greeting(25_000_000, 1 << 17)
    assert Greeting.unpacked(greeting.packed()) == greeting
    with pytest.raises(ValueError, match="version 2 of the serial link, this host 1"):
        Greeting.unpacked(Greeting(1, 2, version=2).packed() + b"more than we know")
    with pytest.raises(ValueError, match="not what a board says"):
        Greeting.unpacked(b"AT OK")


def test_a_frame_that_is_longer_than_any_request_is_passed_over():
    """A request is at most a head of 8 bytes and 1024 of payload; its CRC takes 4."""
    unframer = Unframer()
    for count in (1036, 2000, 70_000):
        assert list(unframer.feed(framed(bytes([3]) * count))) == []
    longest = bytes([3]) * 1032
    assert list(unframer.feed(framed(longest))) == [longest]


def test_numbers_on_the_wire_are_those_of_version_1():
    """A host and a board that were built at different times agree on them."""
    assert {verb.name: int(verb) for verb in Verb} == {
        "HELLO": 0,
        "READ": 1,
        "WRITE": 2,
        "READ_REGISTER": 3,
        "WRITE_REGISTER": 4,
        "RESET": 5,
    }
    assert [result.name for result in sorted(Result)] == ["DONE", "OUTSIDE", "REFUSED", "UNKNOWN"]
    assert [int(result) for result in sorted(Result)] == [0, 1, 2, 3]
    assert Greeting(0x01020304, 0x05060708).packed() == (
        b"CELB\x01\x00\x00\x04\x04\x03\x02\x01\x08\x07\x06\x05"
    )
