"""Delay lines: what was on a signal some cycles ago."""

from amaranth import Module, Signal, Value

__all__ = ["delay", "tapped_delay"]


def delay(m: Module, value: Value, cycles: int, *, name: str) -> Value:
    """`value` as it was `cycles` ago.  The registers have no reset: contents are datapath."""
    for stage in range(cycles):
        register = Signal(value.shape(), name=f"{name}_{stage + 1}", reset_less=True)
        m.d.sync += register.eq(value)
        value = register
    return value


def tapped_delay(m: Module, bit: Value, length: int, *, name: str) -> Value:
    """A vector whose bit k is `bit` as it was k cycles ago; bit 0 is `bit` itself.

    The line is reset, so that no token is in it at the start.
    """
    if length == 1:
        return bit
    line = Signal(length - 1, name=name)
    taps = Signal(length, name=f"{name}_taps")
    m.d.comb += taps.eq((line << 1) | bit)
    m.d.sync += line.eq(taps)
    return taps
