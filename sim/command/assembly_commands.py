"""Commands that turn assembly into ring images, and back."""

import sys
from typing import Annotated

import typer

from celosia.isa.encoding import pack_ring
from celosia.sim.command.options.report import AnnotateOption
from celosia.sim.reporting.annotate import listing
from celosia.sim.support.output import (
    STANDARD_INPUT,
    STANDARD_OUTPUT,
    check_destination,
    read_bytes,
    read_text,
    write_file,
)
from celosia.sim.support.problems import InputError
from celosia.sw.driver.assembly import disassemble
from celosia.sw.driver.program_file import (
    MAX_MEMORY_BYTES,
    MAX_TEXT_BYTES,
    load_program,
    parse_program,
)

__all__ = ["asm", "disasm"]


def asm(
    program: Annotated[
        str, typer.Argument(metavar="[FILE]", help="Assembly (.cel, .s); - is standard input.")
    ] = "",
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="RING.bin", help="- is standard output.")
    ] = STANDARD_OUTPUT,
    annotate: AnnotateOption = None,
) -> None:
    """Turn assembly into the image of a command ring in memory, 24 bytes for each command."""
    check_destination(output)
    if annotate:
        write_file(output, listing(annotate, program))
        return
    if not program:
        raise InputError("asm: give FILE, or --annotate RUN.json")
    if output == STANDARD_OUTPUT and sys.stdout.isatty():
        raise InputError("a ring image is nothing for a terminal: give -o FILE")
    if program == STANDARD_INPUT:
        parsed = parse_program(read_text(program, MAX_TEXT_BYTES), "standard input")
    else:
        parsed = load_program(program)
    write_file(output, pack_ring(parsed.commands))


def disasm(
    image: Annotated[
        str, typer.Argument(metavar="[RING.bin]", help="A ring image; - is standard input.")
    ] = STANDARD_INPUT,
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE.s", help="- is standard output.")
    ] = STANDARD_OUTPUT,
) -> None:
    """Turn the image of a command ring into assembly."""
    check_destination(output)
    content = read_bytes(image, MAX_MEMORY_BYTES)
    try:
        text = disassemble(content)
    except ValueError as error:
        raise InputError(f"{image}: {error}") from None
    write_file(output, text)
