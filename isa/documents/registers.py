"""Prints the register map: `docs/registers.md` and `docs/celosia_registers.h`."""

from collections.abc import Iterator
from typing import Final

from celosia.isa.documents.markdown import bit_range, table
from celosia.isa.encoding import RING_ENTRY
from celosia.isa.registers.errors import Cause, describe
from celosia.isa.registers.map import (
    INTERFACE_VERSION,
    REGISTERS,
    WINDOW_BYTES,
    Access,
    Register,
    RegisterField,
)

__all__ = ["c_header", "register_page"]

_PAGE_HEAD: Final = f"""\
# Registers

Printed from `isa/registers/map.py` by `celosia docs`; edit that, not this page.
`docs/celosia_registers.h` is the same for C.

An AXI4-Lite window of {WINDOW_BYTES} bytes. Registers are 32 bits wide and are accessed as whole
words; a 64-bit value is a pair, LO and HI. Bits outside of fields read as 0 and ignore writes. A
write while the accelerator is busy is answered with SLVERR and has no effect, unless the register
says otherwise. Words that are not listed answer with SLVERR. A counter is stable while the
accelerator is idle; else read HI, LO and HI again until both HI agree.
"""

_HEADER_HEAD: Final = """\
/* Registers of the Celosia accelerator: byte offsets, fields and reset values.
 * Printed from isa/registers/map.py by `celosia docs`; do not edit.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CELOSIA_REGISTERS_H
#define CELOSIA_REGISTERS_H
"""

_HEADER_TAIL: Final = "\n#endif\n"


def register_page() -> str:
    """`docs/registers.md`."""
    columns = ("offset", "register", "access", "reset", "bits", "meaning")
    rows = [row for register in REGISTERS.values() for row in _rows(register)]
    return _PAGE_HEAD + "\n" + table(columns, rows)


def _rows(register: Register) -> Iterator[tuple[str, ...]]:
    reset = "configuration" if register.reset is None else f"{register.reset:#x}"
    access = register.access.value
    if register.while_busy:
        access += "; also while busy"
    yield (f"{register.offset:#05x}", register.name, access, reset, "", _flow(register.doc))
    for field in register.fields:
        yield ("", f"&nbsp; {field.name}", "", "", bit_range(field.low, field.bits), field.doc)


def c_header() -> str:
    """`docs/celosia_registers.h`."""
    lines = [
        _HEADER_HEAD,
        _define("VERSION_MAJOR", str(INTERFACE_VERSION[0])),
        _define("VERSION_MINOR", str(INTERFACE_VERSION[1])),
        _define("WINDOW_BYTES", str(WINDOW_BYTES)),
        _define("RING_ENTRY_BYTES", str(RING_ENTRY.size)),
    ]
    for register in REGISTERS.values():
        lines += _register_lines(register)
    lines.append("\n/* Values of the field cause of ERROR. */")
    lines += [
        f"{_define(f'CAUSE_{cause.name}', str(int(cause)))} /* {describe(cause)} */"
        for cause in Cause
    ]
    return "\n".join(lines) + "\n" + _HEADER_TAIL


def _register_lines(register: Register) -> Iterator[str]:
    yield f"\n/* {_flow(register.doc)} ({register.access.value}) */"
    yield _define(register.name, f"0x{register.offset:03X}u")
    if register.reset is not None and register.access is not Access.WO:
        yield _define(f"{register.name}_RESET", f"0x{register.reset:08X}u")
    for field in register.fields:
        yield from _field_lines(register, field)


def _field_lines(register: Register, field: RegisterField) -> Iterator[str]:
    name = f"{register.name}_{field.name.upper()}"
    mask = (field.limit - 1) << field.low
    yield f"{_define(f'{name}_MASK', f'0x{mask:08X}u')} /* {field.doc} */"
    yield _define(f"{name}_SHIFT", str(field.low))


def _define(name: str, value: str) -> str:
    return f"#define {f'CELOSIA_{name}':<44} {value}"


def _flow(text: str) -> str:
    return text.replace(".  ", ". ")
