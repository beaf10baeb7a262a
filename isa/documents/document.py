"""Prints the contract: pages of instructions, registers and counters, and the C header."""

from collections.abc import Iterable, Sequence
from typing import Final

from celosia.isa import address
from celosia.isa.documents.counters import counter_page
from celosia.isa.documents.functions import function_section
from celosia.isa.documents.markdown import bit_range, table
from celosia.isa.documents.registers import c_header, register_page
from celosia.isa.encoding import FUNCT_BITS, INSTRUCTIONS, RING_ENTRY, Field, Instruction, Kind
from celosia.isa.registers.errors import Cause, describe

__all__ = ["generate"]

_HEAD: Final = f"""\
# Instruction set

Printed from `isa/` by `celosia docs`; edit that, not this page. Rules of what each instruction may
name, and the state after reset, are in [architecture.md](architecture.md); the arithmetic is in
`isa/numerics/`.

A command is a funct of {FUNCT_BITS} bits and two 64-bit operands, `rs1` and `rs2`, as Gemmini's
RoCC interface carries them. Bits that no field names are ignored; write 0. In memory (files, the
command ring) a command is {RING_ENTRY.size} bytes, little-endian:
"""

_RING_ROWS: Final = (
    ("0", "4", "funct"),
    ("4", "4", "0"),
    ("8", "8", "rs1"),
    ("16", "8", "rs2"),
)

_LOCAL_HEAD: Final = f"""\
## Local addresses

A local address names a row of `dim` elements: int8 in the scratchpad, int32 in the accumulator.
It has {address.LOCAL_ADDRESS_BITS} bits:
"""

_LOCAL_TAIL: Final = f"""\
`{address.GARBAGE:#010x}` (the normalization bits may be anything) is *garbage*: as an operand of a
product no data, as its destination do not write.
"""

_LOCAL_ROWS: Final = (
    (
        address.ACCUMULATOR_BIT,
        1,
        "accumulator",
        "1: a row of the accumulator, 0: of the scratchpad.",
    ),
    (
        address.ACCUMULATE_BIT,
        1,
        "accumulate",
        "A write into the accumulator adds, with 32-bit wrap.",
    ),
    (address.FULL_BIT, 1, "full", "MVOUT from the accumulator writes int32 as it is."),
    (address.NORM_LOW, address.NORM_BITS, "norm", "Normalization command of an MVOUT."),
    (0, address.ROW_BITS, "row", "Row number, counted over all banks."),
)

_ERROR_HEAD: Final = """\
## Error causes

The first error stops the accelerator. Nothing of a command that breaks a rule is executed, but of
a TRANSFORM with a column whose scale is too long, which is found while it runs. Loads, stores and
transforms that fail while they run tell so as they meet it: not always in the order of commands.
"""

_REGISTER_ORDER: Final = ("rs1", "rs2")


def generate() -> dict[str, str]:
    """The text of every generated document, by its path from the root of the repository."""
    return {
        "docs/isa.md": _instruction_page(),
        "docs/counters.md": counter_page(),
        "docs/registers.md": register_page(),
        "docs/celosia_registers.h": c_header(),
    }


def _instruction_page() -> str:
    sections = (
        _HEAD + "\n" + table(("byte", "size", "contents"), _RING_ROWS),
        _local_section(),
        _summary_section(),
        *map(_instruction_section, INSTRUCTIONS.values()),
        function_section(),
        _error_section(),
    )
    return "\n".join(sections)


def _local_section() -> str:
    rows = [(bit_range(low, bits), name, doc) for low, bits, name, doc in _LOCAL_ROWS]
    return "\n".join((_LOCAL_HEAD, table(("bits", "name", "meaning"), rows), _LOCAL_TAIL))


def _summary_section() -> str:
    rows = [
        (f"[{known.name}](#{known.name})", _funct(known), known.doc.partition(".  ")[0].rstrip("."))
        for known in INSTRUCTIONS.values()
    ]
    return "## Instructions\n\n" + table(("instruction", "funct", "what it does"), rows)


def _funct(instruction: Instruction) -> str:
    selects = (
        f"{field.name} {field.fixed}" for field in instruction.fields if field.fixed is not None
    )
    return ", ".join((str(int(instruction.funct)), *selects))


def _instruction_section(instruction: Instruction) -> str:
    text = f"### {instruction.name}\n\nFunct {_funct(instruction)}. {_flow(instruction.doc)}\n"
    rows = [_field_row(field) for field in _ordered(instruction.fields)]
    if not rows:
        return text
    return text + "\n" + table(("bits", "field", "kind", "default", "meaning"), rows)


def _ordered(fields: Sequence[Field]) -> Iterable[Field]:
    return sorted(fields, key=lambda field: (_REGISTER_ORDER.index(field.register), field.low))


def _field_row(field: Field) -> tuple[str, ...]:
    where = f"{field.register}[{bit_range(field.low, field.bits)}]"
    if field.fixed is not None:
        return (where, field.name, "fixed", f"{field.fixed}", field.doc)
    base = hex if field.kind is Kind.FLOAT and field.default else str
    default, kind = base(field.default), field.kind.value
    if field.choices is not None:
        default = field.choices(field.default).name.lower()
        kind = ", ".join(f"{value.name.lower()} {value}" for value in field.choices)
    return (where, field.name, kind, default, field.doc)


def _error_section() -> str:
    rows = [(str(int(cause)), cause.name, describe(cause)) for cause in Cause]
    return _ERROR_HEAD + "\n" + table(("value", "cause", "meaning"), rows)


def _flow(text: str) -> str:
    return text.replace(".  ", ". ")
