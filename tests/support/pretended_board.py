"""What answers at a pseudo-terminal as a board does: a memory, and registers that are a table."""

import os
import threading
import time
import tty
from collections.abc import Iterable, Mapping

from celosia.isa.registers.serial import (
    REQUEST_HEAD,
    Greeting,
    Result,
    Unframer,
    Verb,
    framed,
)

__all__ = ["PretendedBoard"]


class PretendedBoard:
    """A board at `path`; requests whose numbers are in `deaf` are not heard, and noise comes first.

    An answer takes `delay` seconds.

    Requests are counted from 0.
    """

    def __init__(
        self,
        registers: Mapping[int, int],
        greeting: Greeting | None = None,
        deaf: Iterable[int] = (),
        noise: bytes = b"",
        delay: float = 0.0,
    ):
        self.memory = bytearray(1 << 16)
        self.requests: list[Verb] = []
        self._registers = dict(registers)
        self._greeting = greeting or Greeting(8_000_000, len(self.memory))
        self._deaf, self._noise, self._delay = set(deaf), noise, delay
        self._ours, self._theirs = os.openpty()
        tty.setraw(self._theirs)
        self.path = os.ttyname(self._theirs)
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        os.close(self._theirs)  # Ends the thread's read.
        self._thread.join(5)
        os.close(self._ours)

    def _serve(self):
        unframer = Unframer()
        while True:
            try:
                data = os.read(self._ours, 4096)
            except OSError:
                return
            for body in unframer.feed(data):
                verb, sequence, offset, count = REQUEST_HEAD.unpack_from(body)
                number = len(self.requests)
                self.requests.append(Verb(verb))
                if number not in self._deaf:
                    time.sleep(self._delay)
                    result, payload = self._answer(verb, offset, count, body[REQUEST_HEAD.size :])
                    reply = framed(bytes((sequence, result)) + payload)
                    os.write(self._ours, self._noise + reply)

    def _answer(self, verb, offset, count, payload):
        match verb:
            case Verb.HELLO:
                return Result.DONE, self._greeting.packed()
            case Verb.READ:
                return Result.DONE, bytes(self.memory[offset : offset + count])
            case Verb.WRITE:
                self.memory[offset : offset + count] = payload
            case Verb.READ_REGISTER if offset not in self._registers:
                return Result.REFUSED, b""
            case Verb.READ_REGISTER:
                return Result.DONE, self._registers[offset].to_bytes(4, "little")
            case Verb.WRITE_REGISTER:
                self._registers[offset] = int.from_bytes(payload, "little")
        return Result.DONE, b""
