"""The AXI4-Lite port, and what it asks of the registers."""

from typing import Annotated, Any

from amaranth import Module, Signal, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.component import Component
from celosia.isa.registers.map import REGISTER_BITS, WINDOW_BYTES

__all__ = [
    "RESPONSE_ERROR",
    "WORD_NUMBER_BITS",
    "AxiLitePort",
    "AxiLiteSlave",
    "LiteAddress",
    "RegisterAccess",
]

RESPONSE_ERROR = 2
"""The response SLVERR of AXI, for an access that fails."""

ADDRESS_BITS = (WINDOW_BYTES - 1).bit_length()
STROBE_BITS = REGISTER_BITS // 8
WORD_NUMBER_BITS = ADDRESS_BITS - (STROBE_BITS - 1).bit_length()


class LiteAddress(data.StructLayout):
    """AW or AR."""

    def __init__(self) -> None:
        super().__init__({"address": unsigned(ADDRESS_BITS), "protection": unsigned(3)})


class AxiLitePort(wiring.Signature):
    """The five channels, seen from the master."""

    def __init__(self) -> None:
        written = data.StructLayout({"data": REGISTER_BITS, "strobe": STROBE_BITS})
        read = data.StructLayout({"data": REGISTER_BITS, "response": 2})
        super().__init__({
            "aw": Out(stream.Signature(LiteAddress())),
            "w": Out(stream.Signature(written)),
            "b": In(stream.Signature(data.StructLayout({"response": 2}))),
            "ar": Out(stream.Signature(LiteAddress())),
            "r": In(stream.Signature(read)),
        })


class RegisterAccess(wiring.Signature):
    """Reads and writes of words, seen from the one who asks.

    `write` and `read` are up for one cycle per access.  Errors and data answer in the cycle after,
    and stand until the next access of their kind.
    """

    def __init__(self) -> None:
        super().__init__({
            "write": Out(1),
            "write_word": Out(WORD_NUMBER_BITS),
            "write_data": Out(REGISTER_BITS),
            "write_strobe": Out(STROBE_BITS),
            "write_error": In(1),
            "read": Out(1),
            "read_word": Out(WORD_NUMBER_BITS),
            "read_data": In(REGISTER_BITS),
            "read_error": In(1),
        })


class AxiLiteSlave(Component):
    """Turns transfers into accesses, one write and one read at a time.

    Address and data of a write come in any order.  A response is on offer two cycles after the
    last of them was accepted, and a read's after its address.  Every input goes into a register
    first; every output comes from one.  The lowest two address bits are ignored.

    Members
    -------
    port : ``In(AxiLitePort())``
        The bus.
    access : ``Out(RegisterAccess())``
        The registers.
    """

    port: Annotated[Any, In(AxiLitePort())]
    access: Annotated[Any, Out(RegisterAccess())]

    LATENCY = 2

    def elaborate(self, platform) -> Module:
        m = Module()
        port, access = self.port, self.access
        self._answer(m, port.b, access.write)
        self._answer(m, port.r, access.read)
        address_held, address = self._hold(m, port.aw, access.write, "aw")
        data_held, written = self._hold(m, port.w, access.write, "w")
        read_held, read = self._hold(m, port.ar, access.read, "ar")
        m.d.comb += [
            access.write.eq(address_held & data_held & ~port.b.valid),
            access.write_word.eq(address.address[-WORD_NUMBER_BITS:]),
            access.write_data.eq(written.data),
            access.write_strobe.eq(written.strobe),
            access.read.eq(read_held & ~port.r.valid),
            access.read_word.eq(read.address[-WORD_NUMBER_BITS:]),
            port.r.p.data.eq(access.read_data),
        ]
        with m.If(access.write_error):
            m.d.comb += port.b.p.response.eq(RESPONSE_ERROR)
        with m.If(access.read_error):
            m.d.comb += port.r.p.response.eq(RESPONSE_ERROR)
        return m

    def _hold(self, m: Module, channel: Any, used: Signal, name: str) -> tuple[Signal, Any]:
        """Keep what arrives until it is `used`.  In reset nothing is accepted."""
        held = Signal(name=f"{name}_held")
        ready = Signal(name=f"{name}_ready")
        payload = Signal(channel.p.shape(), name=name, reset_less=True)
        m.d.comb += channel.ready.eq(ready)
        m.d.sync += ready.eq(~held)
        with m.If(channel.valid & ready):
            m.d.sync += [payload.eq(channel.p), held.eq(1), ready.eq(0)]
        with m.Elif(used):
            m.d.sync += [held.eq(0), ready.eq(1)]
        return held, payload

    def _answer(self, m: Module, channel: Any, begun: Signal) -> None:
        with m.If(begun):
            m.d.sync += channel.valid.eq(1)
        with m.Elif(channel.valid & channel.ready):
            m.d.sync += channel.valid.eq(0)
