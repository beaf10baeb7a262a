"""One line for each port of the top levels."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from amaranth.hdl import Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import Flow

from celosia.isa.registers.map import BusId
from celosia.isa.registers.queues import QUEUES

__all__ = ["MEANINGS", "Port", "ports_of"]


@dataclass(frozen=True)
class Port:
    """A port as the description lists it."""

    name: str
    direction: str
    bits: int
    meaning: str


_CHANNELS: Final = {
    "ar": "a read address",
    "r": "read data",
    "aw": "a write address",
    "w": "write data",
    "b": "a write response",
}

_CHANNEL: Final = re.compile(r"[ms]_axi_(?:ar|aw|r|w|b)")

_IDS: Final = {
    "arid": f"{BusId.DATA}: loads; {BusId.RING}: the command ring. The core has loads only.",
    "awid": f"{BusId.DATA}.",
    "rid": "The ID of the request. Data of one ID come in order.",
    "bid": "Not looked at: responses come in the order of the requests.",
}

_MASTER: Final = {
    "addr": "Byte address; a burst never crosses a multiple of 4096.",
    "len": "Beats, minus 1.",
    "size": "Bytes of a beat, as a power of two: the whole bus.",
    "burst": "1: INCR.",
    "lock": "Constant 0: normal access.",
    "cache": "Constant 0b0011: normal memory, not cacheable, bufferable.",
    "prot": "Constant 0: unprivileged, secure, data.",
    "qos": "Constant 0.",
    "data": "A beat; byte k belongs to the address that is k modulo the bus.",
    "strb": "Which bytes of the beat are written.",
    "last": "The last beat of a burst.",
    "resp": "0, 1: right; 2, 3: an error, which stops the accelerator.",
}

_SLAVE: Final = {
    "addr": "Offset of a register; the two low bits do not matter.",
    "prot": "Not looked at.",
    "data": "The register's value.",
    "strb": "Which bytes of the register are written.",
    "resp": "0: done; 2 (SLVERR): refused, without effect.",
}


def _handshake(name: str) -> dict[str, str]:
    return {
        "valid": f"Offers {name}, until it is taken.",
        "ready": f"Takes {name}, in a cycle with valid.",
    }


def _bus(prefix: str, details: dict[str, str]) -> Iterator[tuple[str, str]]:
    for channel, name in _CHANNELS.items():
        for suffix, meaning in (_handshake(name) | details).items():
            yield f"{prefix}_{channel}{suffix}", meaning


MEANINGS: Final[Mapping[str, str]] = {
    "clk": "Everything happens at its rising edge.",
    "rst": "Synchronous reset, active high; hold it for at least four cycles.",
    **{f"cmd_{suffix}": meaning for suffix, meaning in _handshake("a command").items()},
    "cmd_funct": "The command's funct (docs/isa.md).",
    "cmd_rs1": "Its first operand.",
    "cmd_rs2": "Its second operand.",
    **dict(_bus("m_axi", _MASTER)),
    **{f"m_axi_{name}": meaning for name, meaning in _IDS.items()},
    **dict(_bus("s_axi", _SLAVE)),
    "interrupt": "High while INTERRUPT_STATUS has a bit that is set in INTERRUPT_ENABLE.",
    "busy": "Anything is queued, running or unacknowledged.",
    "error": "An error is recorded; commands wait until it is cleared.",
    "progress": "In the last cycle a command was taken, the memory port moved, or a row was fed.",
    "read_base": "The first byte that may be read.",
    "read_limit": "The last byte that may be read.",
    "write_base": "The first byte that may be written.",
    "write_limit": "The last byte that may be written.",
    "error_cause": "0: no error; else the cause of the first one (docs/isa.md), until reset.",
    "error_address": "The address that it is about.",
    "error_tag": "The number of its command since reset, from 0.",
    **{
        f"queued_{unit}": f"Operations of the {unit} controller, waiting or running."
        for unit in QUEUES
    },
    **{
        f"waits_{unit}": f"Why the next {unit} does not start: bits 0, 1, 2: an older load, "
        "execute, store; bit 3: its controller; bit 4: an older transform."
        for unit in QUEUES
    },
    "counter_number": "A counter, by its place in docs/counters.md from 0 on.",
    "counter_value": "The counter whose number was there in the cycle before.",
}
"""What each port of any top means, by the port's name."""


def ports_of(top: wiring.Component) -> list[Port]:
    """The ports of `top`'s module, in the order of its signature, channel by channel."""
    members = {
        "__".join(map(str, path)): (member.flow, Shape.cast(member.shape).width)
        for path, member, _ in top.signature.flatten(top)
    }
    # Amaranth adds these to a component that leaves its clock to its surroundings.
    inputs = dict.fromkeys(("clk", "rst"), (Flow.In, 1))
    ports = [
        Port(name, "in" if flow is Flow.In else "out", bits, MEANINGS[name])
        for name, (flow, bits) in (inputs | members).items()
    ]
    channels = list(dict.fromkeys(_channel(port.name) for port in ports))
    return sorted(ports, key=lambda port: channels.index(_channel(port.name)))


def _channel(name: str) -> str:
    """What is listed together: the channel of a bus; nothing else has one."""
    found = _CHANNEL.match(name)
    return found[0] if found else ""
