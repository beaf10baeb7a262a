"""What the functions of TRANSFORM differ in, as the controller and the lanes want to know it."""

from dataclasses import dataclass, fields

from amaranth import Module, Signal
from amaranth.lib import data, enum

from celosia.hw.lib.fields import typed_signals
from celosia.hw.vector.modes import Mode
from celosia.isa.functions.table import FUNCTIONS

__all__ = ["TraitSignals", "trait_signals"]


@dataclass(frozen=True)
class TraitSignals:
    """The modes of a function's steps, and those of its flags that the controller needs.

    They are named as in `celosia.isa.functions.table.TransformFunction`.
    """

    mode: enum.EnumView
    second: enum.EnumView
    headed: Signal
    paired: Signal
    rotates: Signal
    result: Signal
    counted: Signal
    moments: Signal
    maximum: Signal
    masked: Signal
    scaled: Signal
    column_scaled: Signal
    rescaled: Signal
    column_rescaled: Signal


def trait_signals(m: Module, function: data.View | Signal, *, when: Signal) -> TraitSignals:
    """Registers with mode and flags of `function`, taken over under `when`."""
    flags = [field.name for field in fields(TraitSignals) if field.name not in {"mode", "second"}]
    shapes = {"mode": Mode, "second": Mode, **dict.fromkeys(flags, 1)}
    registers = typed_signals(TraitSignals, shapes, "trait_")
    with m.If(when), m.Switch(function):
        for known, entry in FUNCTIONS.items():
            with m.Case(known):
                m.d.sync += registers.mode.eq(Mode[entry.mode])
                m.d.sync += registers.second.eq(Mode[entry.second or entry.mode])
                for name in flags:
                    m.d.sync += getattr(registers, name).eq(getattr(entry, name))
    return registers
