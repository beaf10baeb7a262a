"""What the functions of TRANSFORM differ in, as the controller and the lanes want to know it."""

from typing import Final

from amaranth import Module, Signal
from amaranth.lib import data

from celosia.hw.lib.fields import field_signals
from celosia.hw.vector.modes import Mode
from celosia.isa.functions.table import FUNCTIONS

__all__ = ["trait_signals"]

_FLAGS: Final = (
    "headed",
    "paired",
    "rotates",
    "result",
    "counted",
    "moments",
    "maximum",
    "masked",
    "scaled",
    "column_scaled",
    "rescaled",
    "column_rescaled",
)
"""The flags of `celosia.isa.functions.table.TransformFunction` that the controller needs."""


def trait_signals(m: Module, function: data.View | Signal, *, when: Signal):
    """Registers with mode and flags of `function`, taken over under `when`, as attributes."""
    registers = field_signals(
        data.StructLayout({"mode": Mode, "second": Mode, **dict.fromkeys(_FLAGS, 1)}), "trait"
    )
    with m.If(when), m.Switch(function):
        for known, entry in FUNCTIONS.items():
            with m.Case(known):
                m.d.sync += registers.mode.eq(Mode[entry.mode])
                m.d.sync += registers.second.eq(Mode[entry.second or entry.mode])
                for name in _FLAGS:
                    m.d.sync += getattr(registers, name).eq(getattr(entry, name))
    return registers
