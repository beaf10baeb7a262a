"""Whole programs as text: configuration, memory, commands and what to compare (``.cel`` files).

    # Everything behind a # is a comment.
    .preset tiny                        # or the name of a TOML file; `base` if left out
    .set dim=4                          # overrides one parameter of the preset
    .memory 65536                       # bytes of device memory, from MEMORY_BASE on
    .data 0x80000040 00ff12             # bytes in hexadecimal
    .random 0x80001000 256 7            # 256 bytes of the documented stream with seed 7
    .zeros 0x80002000 64
    .check 0x80003000 64                # compare these bytes between devices
    mvin dram=0x80000040 local=sp[0] local_cols=4 local_rows=1
    fence

Directives may stand anywhere and act before the first command; where they overlap, the later one
wins; memory that none of them names is zero.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from celosia.isa.config import AcceleratorConfig, ConfigError
from celosia.isa.encoding import Command
from celosia.isa.foreign_file import MIB, ForeignFileError, read_text
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import parse_override, resolve_config
from celosia.sw.driver.assembly import RAW_WORD, format_commands, parse_command

__all__ = [
    "DEFAULT_MEMORY_BYTES",
    "DIRECTIVES",
    "MAX_MEMORY_BYTES",
    "MAX_TEXT_BYTES",
    "Content",
    "ProgramError",
    "ProgramFile",
    "Region",
    "format_program",
    "load_program",
    "parse_program",
    "random_bytes",
]

DEFAULT_MEMORY_BYTES: Final = 1 << 20
MAX_MEMORY_BYTES: Final = 1 << 30
MAX_TEXT_BYTES: Final = 256 * MIB
"""The largest program as text: some two million commands."""

_BYTES_PER_LINE: Final = 32


class ProgramError(ValueError):
    """A malformed program text; the message names file, line, value and rule."""


@dataclass(frozen=True)
class Region:
    """`size` bytes of device memory from `address` on."""

    address: int
    size: int

    @property
    def end(self) -> int:
        """The first address behind the region."""
        return self.address + self.size


@dataclass(frozen=True)
class Content:
    """What a region of memory holds before the program starts."""

    region: Region
    data: bytes | None = None
    """The bytes themselves, or None: see `seed`."""
    seed: int | None = None
    """The seed of `random_bytes` that fills the region; without data and seed, it is zero."""

    def bytes(self) -> bytes:
        """The bytes of the region."""
        if self.data is not None:
            return self.data
        return (
            bytes(self.region.size)
            if self.seed is None
            else random_bytes(self.region.size, self.seed)
        )


@dataclass(frozen=True, kw_only=True)
class ProgramFile:
    """A program with all that its run depends on."""

    preset: str = "base"
    overrides: tuple[str, ...] = ()
    """``key=value``, as `celosia.isa.presets.resolve_config` takes them."""
    memory_bytes: int = DEFAULT_MEMORY_BYTES
    contents: tuple[Content, ...] = ()
    checks: tuple[Region, ...] = ()
    commands: tuple[Command, ...] = ()

    @property
    def config(self) -> AcceleratorConfig:
        """The configuration that the program is for.  Raises `ConfigError`."""
        return resolve_config(self.preset, self.overrides)

    def memory_image(self) -> bytes:
        """All of device memory before the first command."""
        image = bytearray(self.memory_bytes)
        for content in self.contents:
            start = content.region.address - MEMORY_BASE
            image[start : start + content.region.size] = content.bytes()
        return bytes(image)


def random_bytes(size: int, seed: int) -> bytes:
    """The first `size` bytes of SHAKE-256 of ``celosia SEED``: the same everywhere, forever."""
    return hashlib.shake_256(f"celosia {seed}".encode()).digest(size)


def load_program(path: str | Path) -> ProgramFile:
    """The program in a file.  Raises `ProgramError`, also if the file cannot be read."""
    try:
        text = read_text(path, MAX_TEXT_BYTES)
    except ForeignFileError as error:
        raise ProgramError(str(error)) from None
    return parse_program(text, str(path))


def parse_program(text: str, name: str = "<program>") -> ProgramFile:
    """The program that `text` means; `name` stands in messages.  Raises `ProgramError`."""
    parser = _Parser(name)
    for line in text.splitlines():
        parser.take(line.partition("#")[0].strip())
    return parser.finish()


def format_program(program: ProgramFile) -> str:
    """`program` as text, from which `parse_program` makes an equal program.

    (Contents whose bytes follow each other come back as one.)
    """
    return "".join(f"{line}\n" for line in _lines(program))


def _lines(program: ProgramFile) -> Iterator[str]:
    yield f".preset {program.preset}"
    yield from (f".set {override}" for override in program.overrides)
    yield f".memory {program.memory_bytes}"
    for content in program.contents:
        yield from _content_lines(content)
    for region in program.checks:
        yield f".check {region.address:#x} {region.size}"
    yield from format_commands(program.commands)


def _content_lines(content: Content) -> Iterator[str]:
    address, size = content.region.address, content.region.size
    if content.data is not None:
        for start in range(0, size, _BYTES_PER_LINE):
            line = content.data[start : start + _BYTES_PER_LINE]
            yield f".data {address + start:#x} {line.hex()}"
    elif content.seed is not None:
        yield f".random {address:#x} {size} {content.seed}"
    else:
        yield f".zeros {address:#x} {size}"


class _Parser:
    """Collects a program line by line; what depends on several lines is checked at the end."""

    def __init__(self, name: str):
        self.name = name
        self.line = 0
        self.preset = ("base", 0)
        self.overrides: list[tuple[str, int]] = []
        self.memory_bytes = DEFAULT_MEMORY_BYTES
        self.contents: list[tuple[Content, int]] = []
        self.checks: list[tuple[Region, int]] = []
        self.commands: list[Command] = []

    def take(self, text: str) -> None:
        """Read one line, its comment removed."""
        self.line += 1
        word, *arguments = text.split() or [""]
        try:
            if word == RAW_WORD or not word.startswith("."):
                self.commands += [parse_command(text)] if word else []
            elif word not in DIRECTIVES:
                known = ", ".join((*DIRECTIVES, RAW_WORD))
                raise ValueError(f"there is no directive {word!r}; there are {known}")
            elif len(arguments) != len(DIRECTIVES[word]):
                form = " ".join((word, *DIRECTIVES[word]))
                raise ValueError(f"{word} with {len(arguments)} values; write it as {form}")
            else:
                self._directive(word, arguments)
        except ValueError as error:
            raise self._error(self.line, error) from None

    def finish(self) -> ProgramFile:
        """The program, if its parts fit together."""
        self._check_config()
        limit = MEMORY_BASE + self.memory_bytes
        for region, line in [(c.region, line) for c, line in self.contents] + self.checks:
            if region.address < MEMORY_BASE or region.end > limit:
                raise self._error(
                    line,
                    f"{region.size} bytes at {region.address:#x} are not inside the memory, "
                    f"{MEMORY_BASE:#x}..{limit - 1:#x} (see .memory)",
                )
        return ProgramFile(
            preset=self.preset[0],
            overrides=tuple(text for text, _ in self.overrides),
            memory_bytes=self.memory_bytes,
            contents=tuple(_joined(content for content, _ in self.contents)),
            checks=tuple(region for region, _ in self.checks),
            commands=tuple(self.commands),
        )

    def _directive(self, word: str, arguments: list[str]) -> None:
        match word, arguments:
            case ".preset", [preset]:
                self.preset = (preset, self.line)
            case ".set", [override]:
                parse_override(override)
                self.overrides.append((override, self.line))
            case ".memory", [size]:
                self.memory_bytes = _number("SIZE", size, 1, MAX_MEMORY_BYTES)
            case ".data", [address, digits]:
                self._data(address, digits)
            case ".random", [address, size, seed]:
                content = Content(_region(address, size), seed=_number("SEED", seed, 0))
                self.contents.append((content, self.line))
            case ".zeros", [address, size]:
                self.contents.append((Content(_region(address, size)), self.line))
            case ".check", [address, size]:
                self.checks.append((_region(address, size), self.line))
            case _:
                raise AssertionError(word)

    def _data(self, address: str, digits: str) -> None:
        try:
            data = bytes.fromhex(digits)
        except ValueError:
            raise ValueError(f"BYTES: {digits!r} is not pairs of hexadecimal digits") from None
        self.contents.append((Content(_region(address, str(len(data))), data), self.line))

    def _check_config(self) -> None:
        texts = [text for text, _ in self.overrides]
        try:
            resolve_config(self.preset[0])
        except ConfigError as error:
            raise self._error(self.preset[1], error) from None
        try:
            resolve_config(self.preset[0], texts)
        except ConfigError as error:
            named = [n for text, n in self.overrides if str(error).startswith(text.split("=")[0])]
            raise self._error((named or [self.overrides[-1][1]])[-1], error) from None

    def _error(self, line: int, text: object) -> ProgramError:
        return ProgramError(f"{self.name}:{line}: {text}")


DIRECTIVES: Final = {
    ".preset": ("NAME",),
    ".set": ("KEY=VALUE",),
    ".memory": ("SIZE",),
    ".data": ("ADDRESS", "BYTES"),
    ".random": ("ADDRESS", "SIZE", "SEED"),
    ".zeros": ("ADDRESS", "SIZE"),
    ".check": ("ADDRESS", "SIZE"),
}
"""Each directive, and what stands behind it."""


def _joined(contents: Iterable[Content]) -> Iterator[Content]:
    """`contents` with literal bytes that follow each other as one."""
    pieces: list[bytes] = []
    start = end = 0
    for content in (*contents, Content(Region(0, 0))):
        if pieces and (content.data is None or content.region.address != end):
            yield Content(Region(start, end - start), b"".join(pieces))
            pieces = []
        if content.data is not None:
            start = start if pieces else content.region.address
            end = content.region.end
            pieces.append(content.data)
        elif content.region.size:
            yield content


def _number(name: str, text: str, low: int, high: int | None = None) -> int:
    try:
        value = int(text, 0)
    except ValueError:
        raise ValueError(f"{name}: {text!r} is not a whole number") from None
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name}: {value} is not in {low}..{'' if high is None else high}")
    return value


def _region(address: str, size: str) -> Region:
    return Region(
        _number("ADDRESS", address, 0, (1 << 64) - 1),
        _number("SIZE", size, 1, MAX_MEMORY_BYTES),
    )
