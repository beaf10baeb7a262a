"""What the functions of TRANSFORM differ in, as the controller and the lanes want to know it."""

from dataclasses import dataclass, fields
from typing import Final

from amaranth import Module, Signal
from amaranth.lib import data

from celosia.hw.lib.fields import field_signals
from celosia.hw.vector.steps import Mode
from celosia.isa.encoding import Function

__all__ = ["TRAITS", "Traits", "trait_signals"]


@dataclass(frozen=True, kw_only=True)
class Traits:
    """Of one function."""

    mode: Mode
    """Of its steps, headers and additions excepted."""
    headed: bool = False
    """Each row begins with a header."""
    staged: bool = False
    """The source is int16 in the scratchpad."""
    added: bool = False
    """A residual is added: each block takes two steps."""
    result: bool = True
    counted: bool = False
    """Its elements always count in the row's sums."""
    maximum: bool = False
    """The slot's maximum is written."""
    masked: bool = False
    """Only visible columns count."""
    scaled: bool = False
    """The first scaler makes int16."""
    column_scaled: bool = False
    """The first scaler's scale may be per column."""
    rescaled: bool = False
    """The second scaler makes the result's type."""
    column_rescaled: bool = False
    """The second scaler's scale may be per column, and is the first one of the command."""


_OUT: Final = {"rescaled": True, "column_rescaled": True}
_SCORES: Final = {"masked": True, "scaled": True, "headed": True}

TRAITS: Final = {
    Function.REQUANTIZE: Traits(mode=Mode.PASS, **_OUT),
    Function.MAXIMUM: Traits(mode=Mode.MAXIMUM, masked=True, maximum=True, result=False),
    Function.EXPONENT: Traits(mode=Mode.NUMERATOR, counted=True, **_SCORES),
    Function.SUM: Traits(mode=Mode.EXPONENT, counted=True, result=False, **_SCORES),
    Function.PROBABILITY: Traits(mode=Mode.PROBABILITY, **_SCORES),
    Function.CONTEXT: Traits(mode=Mode.CONTEXT, **_OUT),
    Function.GELU: Traits(mode=Mode.GELU, scaled=True, column_scaled=True, rescaled=True),
    Function.RESIDUAL: Traits(mode=Mode.KEEP, scaled=True, column_scaled=True, added=True),
    Function.MOMENTS: Traits(mode=Mode.PASS, staged=True, counted=True, result=False),
    Function.LAYERNORM: Traits(mode=Mode.NORMALIZE, staged=True),
}


def trait_signals(m: Module, function: data.View | Signal, *, when: Signal):
    """Registers with the traits of `function`, taken over under `when`, as attributes."""
    layout = data.StructLayout({
        field.name: Mode if field.name == "mode" else 1 for field in fields(Traits)
    })
    registers = field_signals(layout, "trait")
    with m.If(when), m.Switch(function):
        for known, traits in TRAITS.items():
            with m.Case(known):
                m.d.sync += [
                    getattr(registers, field.name).eq(getattr(traits, field.name))
                    for field in fields(Traits)
                ]
    return registers
