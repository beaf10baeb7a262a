"""Registers that configuration commands set: their shapes derive from the encoding."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from amaranth import Module, Signal, unsigned
from amaranth.hdl import Shape, Value
from amaranth.lib import data

from celosia.isa.encoding import Instruction

__all__ = ["Setting", "apply_settings", "kept_operands", "nested", "nested_layout"]

Operands = Any
"""The operands of a command as attributes."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A register, and what a command of `instruction` leaves in it."""

    register: str
    """Name of the register; a dot enters a structure."""
    instruction: Instruction
    value: Callable[[Operands], Value]
    """What the operands of the command leave in it, exactly as wide as the register."""
    when: Callable[[Operands], Value] | None = None
    """Whether the command changes it; None: always."""
    init: int = 0
    """The value after reset."""

    @property
    def shape(self) -> Shape:
        """The shape of the register: as many bits as `value` has."""
        operands = {field.name: Signal(field.bits) for field in self.instruction.operands}
        return unsigned(len(self.value(SimpleNamespace(**operands))))


def kept_operands(
    instruction: Instruction,
    names: Mapping[str, str],
    *,
    when: Callable[[Operands], Value] | None = None,
    init: Mapping[str, int] | None = None,
) -> Iterator[Setting]:
    """Registers that keep operands as they are: `names` maps each register to its operand.

    After reset a register holds what the assembler takes for its operand, or `init` of it.
    """
    fields = {field.name: field for field in instruction.operands}
    for register, operand in names.items():
        yield Setting(
            register=register,
            instruction=instruction,
            value=lambda operands, operand=operand: getattr(operands, operand),
            when=when,
            init=(init or {}).get(register, fields[operand].default),
        )


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """`values` by dotted names as dictionaries of dictionaries."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        *outer, last = name.split(".")
        inner = found
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return found


def nested_layout(shapes: Mapping[str, Any]) -> data.StructLayout:
    """The structure whose members have these shapes, by dotted name."""
    return _layout(nested(shapes))


def _layout(shapes: Mapping[str, Any]) -> data.StructLayout:
    return data.StructLayout({
        name: _layout(shape) if isinstance(shape, dict) else shape for name, shape in shapes.items()
    })


def apply_settings(
    m: Module, settings: Iterable[Setting], operands: Operands, registers: data.View
) -> None:
    """Set `registers` as a command with these `operands` says."""
    settings = list(settings)
    for when in dict.fromkeys(setting.when for setting in settings):
        changes = [
            _member(registers, setting.register).eq(setting.value(operands))
            for setting in settings
            if setting.when is when
        ]
        if when is None:
            m.d.sync += changes
        else:
            with m.If(when(operands)):
                m.d.sync += changes


def _member(view: Any, name: str) -> Value:
    for part in name.split("."):
        view = view[part]
    return view
