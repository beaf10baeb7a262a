"""Registers for structures: one signal per field.

A register as wide as a structure, of which every rule assigns another part, is slow to simulate:
each part is put into a copy of the whole.  Signals of their own cost nothing more in hardware.
"""

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, TypeVar

from amaranth import Cat, Signal
from amaranth.hdl import Value
from amaranth.lib import data

__all__ = [
    "CHUNK_BITS",
    "chunk_registers",
    "field_signals",
    "joined",
    "leaves",
    "split_chunks",
    "typed_signals",
]

CHUNK_BITS = 64
"""The most bits of a register that simulates fast."""


Typed = TypeVar("Typed")


def typed_signals(kind: type[Typed], shapes: Mapping[str, Any], prefix: str = "") -> Typed:
    """A `kind`, a dataclass, of signals without reset; `shapes` has the shape of each field."""
    return kind(**{
        name: Signal(shapes[name], name=f"{prefix}{name}", reset_less=True)
        for name in kind.__annotations__
    })


def field_signals(layout: data.StructLayout, name: str) -> Any:
    """Signals without reset for the fields of `layout`, as attributes; structures nest."""
    return SimpleNamespace(**{
        field: _signals(shape, f"{name}_{field}") for field, shape in layout.members.items()
    })


def _signals(shape: Any, name: str) -> Any:
    if isinstance(shape, data.StructLayout):
        return field_signals(shape, name)
    if isinstance(shape, data.ArrayLayout):
        return [_signals(shape.elem_shape, f"{name}_{index}") for index in range(shape.length)]
    return Signal(shape, name=name, reset_less=True)


def leaves(fields: Any) -> Iterator[Any]:
    """All signals of `fields`, in the order of the layout."""
    if isinstance(fields, SimpleNamespace):
        fields = list(vars(fields).values())
    if isinstance(fields, list):
        for field in fields:
            yield from leaves(field)
    else:
        yield fields


def joined(fields: Any) -> Value:
    """The bits of `fields`, as the layout that they were made from packs them."""
    return Cat(leaves(fields))


def split_chunks(value: Value) -> list[Value]:
    """`value` in parts of at most `CHUNK_BITS`."""
    return [value[low : low + CHUNK_BITS] for low in range(0, len(value), CHUNK_BITS)]


def chunk_registers(value: Value, name: str) -> list[Signal]:
    """Signals without reset for the parts of `value`; `Cat` of them is as long as `value`."""
    return [
        Signal.like(part, name=f"{name}_{number}", reset_less=True)
        for number, part in enumerate(split_chunks(value))
    ]
