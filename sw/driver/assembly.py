"""Commands as text, and back.

A line is a mnemonic and ``field=value`` pairs, both from `celosia.isa.encoding`::

    mvin dram=0x80000040 local=sp[128] local_cols=64 local_rows=16
    preload b=sp[64] b_cols=16 b_rows=16 c=acc[0]+accumulate c_cols=16 c_rows=64
    .word 0x7f 0x0 0x1

    config_transform function=gelu type=uint8 scale=0.001 scale2=1e-06
    repeat count=8 length=2
        mvin dram=0x80000040 local=sp[128] local_cols=64 local_rows=16
        stride addend1=1024 addend2=-16

Fields that hold their default are left out, addresses excepted.  A command that no instruction
describes exactly is written as ``.word FUNCT RS1 RS2``, so that text and command always convert
into each other without loss.
"""

import re
import struct
from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.config import did_you_mean
from celosia.isa.encoding import (
    FUNCT_BITS,
    INSTRUCTIONS,
    REPEAT,
    WORD_BITS,
    Command,
    Field,
    Kind,
    float_bits,
    identify,
    unpack_ring,
)

__all__ = [
    "NO_DATA",
    "RAW_WORD",
    "disassemble",
    "format_command",
    "format_commands",
    "format_local",
    "parse_command",
]

RAW_WORD: Final = ".word"
"""The mnemonic of a command given by its three numbers."""

_INDENT: Final = "    "

NO_DATA: Final = "none"
"""The garbage address."""

_ADDRESSES: Final = (Kind.DRAM, Kind.LOCAL)
_LOCAL: Final = re.compile(r"(sp|acc)\[([^\]]*)\]((?:\+[a-z]+(?:=\w+)?)*)")
_FLAGS: Final = ("accumulate", "full")


def format_command(command: Command) -> str:
    """`command` as one line of assembly, from which `parse_command` makes the same command."""
    instruction = identify(command)
    if instruction is None or instruction.encode(**instruction.decode(command)) != command:
        return f"{RAW_WORD} {command.funct:#x} {command.rs1:#x} {command.rs2:#x}"
    words = [instruction.name]
    for field in instruction.operands:
        value = field.get(command)
        if value != field.default or field.kind in _ADDRESSES:
            words.append(f"{field.name}={_format_value(field, value)}")
    return " ".join(words)


def format_commands(commands: Iterable[Command]) -> Iterator[str]:
    """`commands` line by line, the bodies of loops indented."""
    left: list[int] = []  # Commands of each body that are still to come.
    for command in commands:
        yield _INDENT * len(left) + format_command(command)
        left = [count - 1 for count in left]
        if REPEAT.matches(command):
            left.append(REPEAT.decode(command)["length"])
        left = [count for count in left if count]


def parse_command(text: str) -> Command:
    """The command that one line of assembly means.

    Raises `ValueError` that names the mnemonic or the field, its value and the rule.
    """
    mnemonic, *words = text.split() or [""]
    if mnemonic == RAW_WORD:
        return _parse_raw(words)
    if mnemonic not in INSTRUCTIONS:
        known = ", ".join((*INSTRUCTIONS, RAW_WORD))
        near = did_you_mean(mnemonic, INSTRUCTIONS)
        raise ValueError(f"there is no instruction {mnemonic!r}; there are {known}{near}")
    instruction = INSTRUCTIONS[mnemonic]
    fields = {field.name: field for field in instruction.operands}
    values: dict[str, int] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"{mnemonic}: {word!r}: write operands as field=value")
        if name not in fields:
            known = ", ".join(fields) or "none"
            near = did_you_mean(name, fields)
            raise ValueError(f"{mnemonic}: there is no field {name!r}; there are: {known}{near}")
        if name in values:
            raise ValueError(f"{mnemonic}.{name}: {value} is the second value of this field")
        try:
            values[name] = _parse_value(fields[name], value)
        except ValueError as error:
            raise ValueError(f"{mnemonic}.{name}: {error}") from None
    return instruction.encode(**values)


def disassemble(image: bytes) -> str:
    """A command ring's image in memory as assembly, one line per command.

    Raises `ValueError` for a torn or malformed image.
    """
    return "".join(f"{line}\n" for line in format_commands(unpack_ring(image)))


def format_local(word: int) -> str:
    """A local address as assembly writes it, such as ``acc[16]+accumulate`` or ``none``."""
    if word == GARBAGE:
        return NO_DATA
    if LocalAddress.is_garbage(word):
        return f"{word:#x}"
    address = LocalAddress.decode(word)
    text = f"{'acc' if address.accumulator else 'sp'}[{address.row}]"
    text += "".join(f"+{flag}" for flag in _FLAGS if getattr(address, flag))
    return text + (f"+norm={address.norm}" if address.norm else "")


def _format_value(field: Field, value: int) -> str:
    match field.kind:
        case Kind.INT | Kind.FLAG:
            return str(value)
        case Kind.SIGNED:
            return str(value - field.limit if value >> field.bits - 1 else value)
        case Kind.DRAM:
            return f"{value:#x}"
        case Kind.FLOAT:
            return _format_float(value)
        case Kind.LOCAL:
            return format_local(value)
        case Kind.CHOICE:
            return _names(field).get(value, str(value))


def _names(field: Field) -> dict[int, str]:
    """The values of a `Kind.CHOICE` as assembly writes them."""
    return {int(value): value.name.lower() for value in field.choices or ()}


def _format_float(bits: int) -> str:
    text = str(np.uint32(bits).view(np.float32))
    return text if text != "nan" and _parse_float(text) == bits else f"{bits:#x}"


def _parse_raw(words: list[str]) -> Command:
    if len(words) != 3:
        raise ValueError(f"{RAW_WORD}: {len(words)} numbers given, needs funct, rs1 and rs2")
    limits = (1 << FUNCT_BITS, 1 << WORD_BITS, 1 << WORD_BITS)
    values = []
    for name, word, limit in zip(Command._fields, words, limits, strict=True):
        value = _parse_int(word)
        if not 0 <= value < limit:
            raise ValueError(f"{RAW_WORD}.{name}: {word} is not in 0..{limit - 1:#x}")
        values.append(value)
    return Command(*values)


def _parse_value(field: Field, text: str) -> int:
    match field.kind:
        case Kind.FLOAT:
            return _parse_float(text)
        case Kind.LOCAL:
            return _parse_local(text)
        case Kind.INT | Kind.FLAG | Kind.DRAM:
            return _parse_int(text)
        case Kind.SIGNED:
            return _parse_signed(field, text)
        case Kind.CHOICE:
            return _parse_choice(field, text)


def _parse_choice(field: Field, text: str) -> int:
    values = {name: value for value, name in _names(field).items()}
    if text in values or text.isdecimal():
        return values[text] if text in values else int(text)
    raise ValueError(f"{text!r} is not one of {', '.join(values)}")


def _parse_int(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise ValueError(f"{text!r} is not a whole number") from None


def _parse_signed(field: Field, text: str) -> int:
    value, half = _parse_int(text), field.limit // 2
    if not -half <= value < half:
        raise ValueError(f"{text} is not in {-half}..{half - 1}")
    return value % field.limit


def _parse_float(text: str) -> int:
    if text.startswith("0x"):
        return _parse_int(text)
    try:
        return float_bits(float(text))
    except (ValueError, OverflowError, struct.error):
        raise ValueError(f"{text!r} is not a float32, nor its bits as 0x...") from None


def _parse_local(text: str) -> int:
    if text == NO_DATA:
        return GARBAGE
    if text.startswith("0x"):
        return _parse_int(text)
    if not (match := _LOCAL.fullmatch(text)):
        raise ValueError(
            f"{text!r} is not a local address: sp[ROW] or acc[ROW], then any of "
            f"+accumulate, +full, +norm=N; or {NO_DATA}"
        )
    memory, row, suffixes = match.groups()
    flags: dict[str, int] = {}
    for suffix in suffixes.split("+")[1:]:
        name, equals, value = suffix.partition("=")
        if name in flags or bool(equals) != (name == "norm") or name not in (*_FLAGS, "norm"):
            raise ValueError(f"{text!r}: +{suffix} is not one of +accumulate, +full, +norm=N, once")
        flags[name] = _parse_int(value) if equals else 1
    return LocalAddress(
        row=_parse_int(row),
        accumulator=memory == "acc",
        accumulate=bool(flags.get("accumulate")),
        full=bool(flags.get("full")),
        norm=flags.get("norm", 0),
    ).encode()
