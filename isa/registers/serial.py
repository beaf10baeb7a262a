"""The serial link to an accelerator on a board: what goes over the wire, byte by byte.

The host asks, the board replies, one request at a time.  A frame is a body and its CRC-32 (that of
Ethernet and zlib, its lowest byte first), between two bytes `END`; in between, `END` and `ESCAPE`
are written as `ESCAPE` and one of `ESCAPED` (SLIP, RFC 1055).  Whatever was garbled ends at the
next `END`: a frame that is too short or too long, or whose CRC is wrong, is never answered, and the
host asks again.  Numbers have their lowest byte first.

A request has a sequence number of 8 bits, which its reply repeats.  A request to write a register
that comes again with the number of the one before is answered and not executed again: what is
repeated because its reply was lost happens once.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Self

__all__ = [
    "CRC_BYTES",
    "END",
    "ESCAPE",
    "ESCAPED",
    "INTERRUPT_BIT",
    "LINK_VERSION",
    "MOST_PAYLOAD",
    "REPLY_HEAD",
    "REQUEST_HEAD",
    "Greeting",
    "Reply",
    "Request",
    "Result",
    "Unframer",
    "Verb",
    "framed",
]

END: Final = 0xC0
"""The byte before and behind a frame."""
ESCAPE: Final = 0xDB
"""The byte before one of `ESCAPED`."""
ESCAPED: Final = {END: 0xDC, ESCAPE: 0xDD}
"""What follows `ESCAPE`, for each byte that cannot be written as it is."""
CRC_BYTES: Final = 4
MOST_PAYLOAD: Final = 1024
"""Bytes that one request reads or writes, at most."""
LINK_VERSION: Final = 1
"""Counts changes of this file after which an older host no longer works.  `Verb.HELLO` and the
first six bytes of its answer stay what they are."""
INTERRUPT_BIT: Final = 7
"""The bit of a reply's status that says whether the accelerator's interrupt is high."""

REQUEST_HEAD: Final = struct.Struct("<BBIH")
"""The verb, the sequence number, an offset, and how many bytes to read or write."""
REPLY_HEAD: Final = struct.Struct("<BB")
"""The sequence number, and the status: `Result` and `INTERRUPT_BIT`."""
_GREETING: Final = struct.Struct("<4sHHII")
_MAGIC: Final = b"CELB"
_LONGEST: Final = REQUEST_HEAD.size + MOST_PAYLOAD + CRC_BYTES


class Verb(IntEnum):
    """What a request asks for."""

    HELLO = 0
    """What answers: the reply has a `Greeting`."""
    READ = 1
    """Bytes of memory, from an offset on; the reply has them."""
    WRITE = 2
    """Write the payload into memory, from an offset on."""
    READ_REGISTER = 3
    """The register at an offset; the reply has its four bytes."""
    WRITE_REGISTER = 4
    """Give the register at an offset the four bytes of the payload."""
    RESET = 5
    """Reset the accelerator; memory keeps its contents."""


class Result(IntEnum):
    """What became of a request."""

    DONE = 0
    OUTSIDE = 1
    """Some of the bytes are not in memory: none was read or written."""
    REFUSED = 2
    """The register refused the access."""
    UNKNOWN = 3
    """There is no such verb, or the number of bytes is not one that it takes."""


@dataclass(frozen=True)
class Request:
    """A request; `count` is that of `payload`, or of bytes to read."""

    verb: Verb
    sequence: int
    offset: int = 0
    count: int = 0
    payload: bytes = b""

    def packed(self) -> bytes:
        """The body of its frame."""
        return REQUEST_HEAD.pack(self.verb, self.sequence, self.offset, self.count) + self.payload


@dataclass(frozen=True)
class Reply:
    """An answer."""

    sequence: int
    result: Result
    interrupt: bool
    payload: bytes = b""

    @classmethod
    def unpacked(cls, body: bytes) -> Self:
        """The reply with this body.  Raises `ValueError` for one that no board sends."""
        if len(body) < REPLY_HEAD.size:
            raise ValueError(f"reply: {len(body)} bytes, fewer than {REPLY_HEAD.size}")
        sequence, status = REPLY_HEAD.unpack_from(body)
        result = Result(status & ~(1 << INTERRUPT_BIT))
        return cls(sequence, result, bool(status >> INTERRUPT_BIT), body[REPLY_HEAD.size :])


@dataclass(frozen=True)
class Greeting:
    """What a board says of itself."""

    clock_hz: int
    memory_bytes: int
    version: int = LINK_VERSION
    most_payload: int = MOST_PAYLOAD

    def packed(self) -> bytes:
        """The payload of the reply to HELLO."""
        numbers = (self.version, self.most_payload, self.clock_hz, self.memory_bytes)
        return _GREETING.pack(_MAGIC, *numbers)

    @classmethod
    def unpacked(cls, payload: bytes) -> Self:
        """The greeting in a reply.  Raises `ValueError` for another version, or no board's."""
        if not payload.startswith(_MAGIC) or len(payload) < len(_MAGIC) + 2:
            raise ValueError(f"{payload[:8].hex(' ')}: not what a board says of itself")
        version = int.from_bytes(payload[len(_MAGIC) : len(_MAGIC) + 2], "little")
        if version != LINK_VERSION or len(payload) != _GREETING.size:
            raise ValueError(
                f"the board speaks version {version} of the serial link, this host {LINK_VERSION}"
            )
        _, _, most_payload, clock_hz, memory_bytes = _GREETING.unpack(payload)
        return cls(clock_hz, memory_bytes, version, most_payload)


def framed(body: bytes) -> bytes:
    """The bytes on the wire for a body."""
    content = body + zlib.crc32(body).to_bytes(CRC_BYTES, "little")
    escaped = b"".join(
        bytes((ESCAPE, ESCAPED[byte])) if byte in ESCAPED else bytes((byte,)) for byte in content
    )
    return bytes((END,)) + escaped + bytes((END,))


class Unframer:
    """Finds the bodies of frames in what arrives; what is no frame is passed over."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._escaping = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The bodies whose last byte is in `data`, which follows what came before."""
        originals = {escaped: byte for byte, escaped in ESCAPED.items()}
        for byte in data:
            if byte == END:
                body, crc = self._content[:-CRC_BYTES], self._content[-CRC_BYTES:]
                if body and zlib.crc32(body).to_bytes(CRC_BYTES, "little") == crc:
                    yield bytes(body)
                self._content.clear()
                self._escaping = False
            elif byte == ESCAPE:
                self._escaping = True
            elif len(self._content) <= _LONGEST:
                self._content.append(originals.get(byte, byte) if self._escaping else byte)
                self._escaping = False
