"""Frames out of the bytes of replies."""

from typing import Any

from amaranth import Array, Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.crc.catalog import CRC32_ISO_HDLC
from amaranth.lib.wiring import In, Out

from celosia.isa.registers.serial import CRC_BYTES, END, ESCAPE, ESCAPED

__all__ = ["ReplyByte", "ReplyWriter"]


class ReplyByte(data.StructLayout):
    """A byte of a reply, and whether it is the last one."""

    def __init__(self) -> None:
        super().__init__({"byte": unsigned(8), "last": 1})


class ReplyWriter(wiring.Component):
    """Puts END before and behind a reply, adds its CRC, and escapes what must be escaped.

    As `celosia.isa.registers.serial` says.  A byte that is on offer is passed on in the same cycle,
    but for the first one, which waits until END was taken, and one that is escaped, which waits for
    ESCAPE: latency 0.  Throughput: a byte per cycle, as far as the line takes them; it stalls in
    the six cycles or more between two replies.

    Members
    -------
    i : ``In(stream.Signature(ReplyByte()))``
        Replies.
    o : ``Out(stream.Signature(8))``
        Bytes for the line.
    """

    i: stream.Interface
    o: stream.Interface

    def __init__(self) -> None:
        super().__init__({
            "i": In(stream.Signature(ReplyByte())),
            "o": Out(stream.Signature(8)),
        })

    def elaborate(self, platform) -> Module:
        m = Module()
        m.submodules.crc = crc = CRC32_ISO_HDLC(data_width=8).create()
        i: Any = self.i
        byte, offered = Signal(8), Signal()
        passed = Signal()  # The byte itself goes, not an ESCAPE before it.
        escaping = Signal()  # ESCAPE is out; the byte behind it is to come.
        place = Signal(range(CRC_BYTES))

        special = Signal()
        m.d.comb += [self.o.valid.eq(offered), self.o.payload.eq(byte)]
        for original, escaped in ESCAPED.items():
            with m.If(byte == original):
                m.d.comb += [special.eq(1), self.o.payload.eq(escaped)]
        with m.If(special & ~escaping):
            m.d.comb += self.o.payload.eq(ESCAPE)
            with m.If(offered & self.o.ready):
                m.d.sync += escaping.eq(1)
        with m.Else():
            m.d.comb += passed.eq(offered & self.o.ready)
            with m.If(passed):
                m.d.sync += escaping.eq(0)

        with m.FSM():
            with m.State("BEFORE"):  # Nothing of the reply is out.
                m.d.comb += [self.o.valid.eq(i.valid), self.o.payload.eq(END), crc.start.eq(1)]
                with m.If(i.valid & self.o.ready):
                    m.next = "BODY"
            with m.State("BODY"):
                m.d.comb += [
                    *(offered.eq(i.valid), byte.eq(i.p.byte), i.ready.eq(passed)),
                    *(crc.data.eq(i.p.byte), crc.valid.eq(passed)),
                ]
                with m.If(passed & i.p.last):
                    m.d.sync += place.eq(0)
                    m.next = "CRC"
            with m.State("CRC"):
                sums = Array(crc.crc.word_select(index, 8) for index in range(CRC_BYTES))
                m.d.comb += [offered.eq(1), byte.eq(sums[place])]
                with m.If(passed):
                    m.d.sync += place.eq(place + 1)
                    with m.If(place == CRC_BYTES - 1):
                        m.next = "BEHIND"
            with m.State("BEHIND"):
                m.d.comb += [self.o.valid.eq(1), self.o.payload.eq(END)]
                with m.If(self.o.ready):
                    m.next = "BEFORE"
        return m
