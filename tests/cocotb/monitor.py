"""Watches a port of the simulated accelerator by the rules of its protocol."""

from typing import Any

from cocotb.triggers import RisingEdge

from tests.cocotb.rules import LiteRules, MemoryRules

__all__ = ["watch"]


async def watch(dut: Any, prefix: str, rules: MemoryRules | LiteRules) -> None:
    """Check every cycle, without an end.  Raises `ProtocolError`, which fails the test."""
    handshakes = [f"{name}{part}" for name in rules.channels for part in ("valid", "ready")]
    offers = {name: channel.signals for name, channel in rules.channels.items()}
    handles = {
        signal: getattr(dut, f"{prefix}_{signal}")
        for signal in (*handshakes, *(signal for all_ in offers.values() for signal in all_))
    }
    while True:
        await RisingEdge(dut.clk)
        pins = {signal: _sample(handles[signal]) for signal in handshakes}
        for name, signals in offers.items():
            # Payloads mean something only with valid; reading them takes most of the time.
            if pins[f"{name}valid"]:
                pins |= {signal: _sample(handles[signal]) for signal in signals}
        rules.edge(pins, int(dut.rst.value))


def _sample(handle: Any) -> int | str:
    value = handle.value
    return int(value) if value.is_resolvable else str(value)
