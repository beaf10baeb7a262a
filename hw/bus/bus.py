"""The memory port: the five AXI4 channels as streams."""

from amaranth import unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from celosia.isa.config import AcceleratorConfig
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import BUS_ID_BITS

__all__ = [
    "PAGE_BYTES",
    "RESPONSE_OKAY",
    "AddressRequest",
    "Fault",
    "Limits",
    "ReadBeat",
    "ReadPort",
    "SharedReadPort",
    "WriteBeat",
    "WritePort",
    "WriteResponse",
]

PAGE_BYTES = 4096
"""No burst crosses a multiple of this (AXI4, A3.4.1)."""

RESPONSE_OKAY = 0


class AddressRequest(data.StructLayout):
    """AR or AW: a burst of ``beats_minus_1 + 1`` full-width INCR beats.

    `address` is the exact first byte; the beat that holds it is the first one of the burst.
    """

    def __init__(self) -> None:
        super().__init__({"address": unsigned(64), "beats_minus_1": unsigned(8)})


class ReadBeat(data.StructLayout):
    """A beat of the read data channel, R."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({"data": unsigned(config.bus_bits), "response": unsigned(2), "last": 1})


class WriteBeat(data.StructLayout):
    """A beat of the write data channel, W."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "data": unsigned(config.bus_bits),
            "strobe": unsigned(config.bus_bytes),
            "last": 1,
        })


class WriteResponse(data.StructLayout):
    """A beat of the write response channel, B."""

    def __init__(self) -> None:
        super().__init__({"response": unsigned(2)})


class ReadPort(wiring.Signature):
    """AR and R, seen from the master."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "ar": Out(stream.Signature(AddressRequest())),
            "r": In(stream.Signature(ReadBeat(config))),
        })


class SharedReadPort(wiring.Signature):
    """AR and R of several users, seen from the master; IDs tell whose a transfer is."""

    def __init__(self, config: AcceleratorConfig):
        identity = unsigned(BUS_ID_BITS)
        request = data.StructLayout({"id": identity, "request": AddressRequest()})
        beat = data.StructLayout({"id": identity, "beat": ReadBeat(config)})
        super().__init__({"ar": Out(stream.Signature(request)), "r": In(stream.Signature(beat))})


class WritePort(wiring.Signature):
    """AW, W and B, seen from the master."""

    def __init__(self, config: AcceleratorConfig):
        super().__init__({
            "aw": Out(stream.Signature(AddressRequest())),
            "w": Out(stream.Signature(WriteBeat(config))),
            "b": In(stream.Signature(WriteResponse())),
        })


class Limits(data.StructLayout):
    """Bytes that may be touched: `base` to `limit`, both included."""

    def __init__(self) -> None:
        super().__init__({"base": unsigned(64), "limit": unsigned(64)})


class Fault(data.StructLayout):
    """An error and where it happened; `valid` for one cycle."""

    def __init__(self) -> None:
        super().__init__({
            "valid": 1,
            "cause": Cause,
            "address": unsigned(64),
            "tag": unsigned(32),
            "id": unsigned(BUS_ID_BITS),
        })
