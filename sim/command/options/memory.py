"""Memory faults and channels as the command line writes them."""

import re
from collections.abc import Iterable
from typing import Any, Final

from celosia.isa.memory import CHANNELS, MemoryFault
from celosia.sim.support.problems import InputError

__all__ = ["parse_fault", "parse_stalls"]

_FAULT: Final = re.compile(r"(read|write):(#?)(0[xX][0-9a-fA-F]+|[0-9]+):(slverr|decerr)")


def parse_fault(text: str) -> MemoryFault:
    """What ``WAY:ADDRESS:RESPONSE`` or ``WAY:#NUMBER:RESPONSE`` means.  Raises `InputError`."""
    match = _FAULT.fullmatch(text)
    if not match:
        raise InputError(
            f"--mem-fault {text}: write read|write, then an address or #NUMBER of a burst, then "
            "slverr|decerr: read:0x80001000:slverr"
        )
    way, number, place, response = match.groups()
    value = int(place, 16 if place[1:2] in ("x", "X") else 10)
    if value >= 1 << 64:
        raise InputError(f"--mem-fault {text}: {place} has more than 64 bits")
    fields: Any = {"way": way, "response": response}
    return MemoryFault(place=value, by_number=bool(number), **fields)


def parse_stalls(texts: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """What some ``CHANNEL=PERCENT`` mean.  Raises `InputError`."""
    stalls: dict[str, int] = {}
    for text in texts:
        channel, _, percent = text.partition("=")
        if channel not in CHANNELS or not percent.isdecimal() or int(percent) > 95:
            raise InputError(
                f"--mem-channel-stall {text}: write CHANNEL=PERCENT: one of "
                f"{', '.join(CHANNELS)}, and 0..95"
            )
        stalls[channel] = int(percent)
    return tuple(stalls.items())
