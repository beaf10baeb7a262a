"""Requests from the bytes that a host sends."""

from typing import Any

from amaranth import Cat, Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ISO_HDLC
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.isa.registers.serial import (
    CRC_BYTES,
    END,
    ESCAPE,
    ESCAPED,
    MOST_PAYLOAD,
    REQUEST_HEAD,
)

__all__ = ["RequestHead", "RequestReader"]

_BEHIND_HEAD = REQUEST_HEAD.size + CRC_BYTES
"""Bytes of a frame that has no payload."""


class RequestHead(data.StructLayout):
    """The head of a request (`REQUEST_HEAD`), and how many bytes of payload came behind it."""

    def __init__(self) -> None:
        super().__init__({
            "verb": unsigned(8),
            "sequence": unsigned(8),
            "offset": unsigned(32),
            "count": unsigned(16),
            "length": range(MOST_PAYLOAD + 1),
        })


class RequestReader(wiring.Component):
    """Takes frames apart, as `celosia.isa.registers.serial` says, and keeps what is sound.

    A request is on offer `LATENCY` cycles after the byte END of its frame, if its CRC is right and
    its length is one that a request has; its payload stays in a block RAM until the request is
    accepted.  Bytes that come meanwhile are lost, up to the next END.  Throughput: a byte per
    cycle; it never stalls.

    Members
    -------
    i : ``In(stream.Signature(8, always_ready=True))``
        Bytes from the line.
    head : ``Out(stream.Signature(RequestHead()))``
        A request; whoever accepts it is done with its payload.
    index : ``In(range(MOST_PAYLOAD))``
        A byte of the payload.
    payload : ``Out(8)``
        That byte, a cycle later.
    """

    LATENCY = 1

    i: stream.Interface
    head: stream.Interface
    index: Signal
    payload: Signal

    def __init__(self) -> None:
        super().__init__({
            "i": In(stream.Signature(8, always_ready=True)),
            "head": Out(stream.Signature(RequestHead())),
            "index": In(range(MOST_PAYLOAD)),
            "payload": Out(8),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.payloads = memory = Memory(shape=8, depth=MOST_PAYLOAD, init=[])
        m.submodules.crc = crc = CRC32_ISO_HDLC(data_width=8).create()
        write, read = memory.write_port(), memory.read_port()
        head: Any = self.head.p

        listening = Signal()  # An END has come since bytes were lost.
        escaping = Signal()
        words = Signal(8 * REQUEST_HEAD.size, reset_less=True)  # The head, the last byte highest.
        most = _BEHIND_HEAD + MOST_PAYLOAD
        length = Signal(range(most + 2))  # Bytes of this frame; one more than the most: too many.

        byte, arrives = Signal(8), Signal()
        ends = self.i.valid & (self.i.payload == END)
        escape = self.i.payload == ESCAPE
        free = ~self.head.valid
        m.d.comb += [byte.eq(self.i.payload), arrives.eq(self.i.valid & free & ~ends & ~escape)]
        with m.If(escaping):
            for original, escaped in ESCAPED.items():
                with m.If(self.i.payload == escaped):
                    m.d.comb += byte.eq(original)

        place = length - REQUEST_HEAD.size
        in_head = length < REQUEST_HEAD.size
        m.d.comb += [
            crc.valid.eq(arrives),
            crc.data.eq(byte),
            crc.start.eq(ends | self.head.valid),
            write.addr.eq(place),
            write.data.eq(byte),
            # The CRC behind the longest payload has no place, and needs none.
            write.en.eq(arrives & ~in_head & (place < MOST_PAYLOAD)),
            read.addr.eq(self.index),
            self.payload.eq(read.data),
            Cat(head.verb, head.sequence, head.offset, head.count).eq(words),
        ]
        with m.If(arrives):
            m.d.sync += escaping.eq(0)
            with m.If(length <= most):
                m.d.sync += length.eq(length + 1)
            with m.If(in_head):
                m.d.sync += words.eq(Cat(words[8:], byte))
        with m.If(self.i.valid & escape):
            m.d.sync += escaping.eq(1)
        with m.If(self.head.valid):
            with m.If(self.i.valid):
                m.d.sync += listening.eq(0)
            with m.If(self.head.ready):
                m.d.sync += [self.head.valid.eq(0), length.eq(0), escaping.eq(0)]
        with m.Elif(ends):
            sound: Any = (
                listening & crc.match_detected & (length >= _BEHIND_HEAD) & (length <= most)
            )
            m.d.sync += [
                listening.eq(1),
                escaping.eq(0),
                length.eq(0),
                head.length.eq(length - _BEHIND_HEAD),
                self.head.valid.eq(sound),
            ]
        return m
