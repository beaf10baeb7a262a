"""The host's end of the serial link: a request is repeated until it is answered."""

import os
import time
from contextlib import ExitStack, suppress
from typing import Final, Self

import serial

from celosia.isa.registers.serial import (
    Greeting,
    Reply,
    Request,
    Result,
    Unframer,
    Verb,
    framed,
)
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError

__all__ = ["LinkError", "SerialLink"]

TRIES: Final = 4
_SEQUENCES: Final = 256
_BYTE_BITS: Final = 10
_READ_SECONDS: Final = 0.05


class LinkError(EnvironmentProblem):
    """Nothing answers, or what answers is not what was asked."""


class SerialLink:
    """A board at the serial port `path`, which has `patience` seconds for its first answer.

    It has twice as many for each further try: a board that is simulated may be slow.

    The constructor raises `InputError` for a port that cannot be opened, and `LinkError` if no
    board of this version answers there.
    """

    def __init__(self, path: str, baud: int, patience: float = 1.0):
        self.path = path
        self.baud = baud
        self.repeated = 0
        """Requests that were sent again."""
        self._patience = patience
        self._sequence = int.from_bytes(os.urandom(1), "little")
        self._unframer = Unframer()
        try:
            self._port = serial.Serial(path, baud, timeout=_READ_SECONDS, exclusive=True)
        except (serial.SerialException, ValueError, OverflowError) as error:
            raise InputError(f"{path}: cannot be opened as a serial port: {_why(error)}") from None
        # Adapters of FTDI otherwise keep short answers for 16 ms; not every port knows of it.
        with suppress(OSError, ValueError, AttributeError):
            self._port.set_low_latency_mode(True)
        with ExitStack() as opened:
            opened.callback(self.close)
            self.greeting = self._greet()
            opened.pop_all()

    def ask(self, verb: Verb, offset: int = 0, count: int = 0, payload: bytes = b"") -> Reply:
        """The reply to a request, asked up to `TRIES` times.

        Raises `LinkError` if there is none, or if it says that the request was none.
        """
        self._sequence = (self._sequence + 1) % _SEQUENCES
        request = Request(verb, self._sequence, offset, len(payload) or count, payload)
        wire = framed(request.packed())
        seconds = self._patience + 4 * _BYTE_BITS * (len(wire) + request.count) / self.baud
        try:
            for attempt in range(TRIES):
                self.repeated += attempt > 0
                self._port.write(wire)
                if reply := self._reply(time.monotonic() + seconds * 2**attempt):
                    break
            else:
                raise LinkError(
                    f"{self.path}: nothing answers at {self.baud:,} baud, asked {TRIES} times: is "
                    "the board on, has it this design, and is --baud the design's?"
                )
        except (serial.SerialException, OSError) as error:
            raise LinkError(f"{self.path}: {_why(error)}") from None
        if reply.result is Result.UNKNOWN:
            raise LinkError(f"{self.path}: the board does not know the request {verb.name}")
        return reply

    def close(self) -> None:
        """Give back the port."""
        self._port.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _greet(self) -> Greeting:
        self._port.reset_input_buffer()
        try:
            return Greeting.unpacked(self.ask(Verb.HELLO).payload)
        except ValueError as error:
            raise LinkError(f"{self.path}: {error}") from None

    def _reply(self, deadline: float) -> Reply | None:
        """The reply to the last request, if it comes before `deadline`."""
        while time.monotonic() < deadline:
            for body in self._unframer.feed(self._port.read(max(1, self._port.in_waiting))):
                try:
                    reply = Reply.unpacked(body)
                except ValueError:
                    continue
                if reply.sequence == self._sequence:  # Else one that came too late.
                    return reply
        return None


def _why(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return os.strerror(number) if number else str(error)
