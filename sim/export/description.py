"""The page beside exported Verilog: files, ports, memories and registers."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.markdown import bit_range, table
from celosia.isa.registers.errors import Cause, describe
from celosia.isa.registers.map import REGISTERS, Access, Register, configuration_words
from celosia.sim.export.design import Design
from celosia.sim.export.ports import Port
from celosia.sim.export.rams import Ram

__all__ = ["describe_design"]

_PORTS: Final = """\
One clock: everything is sampled, and changes, at the rising edge of `clk`. Streams and channels
follow AXI's rules: an offer stands until it is taken, and no `valid` waits for its `ready`.
"""

_INFERRED: Final = """\
All memories are inferred from the Verilog (`--memories blackbox` makes instances of them). Those
that are read combinationally are small queues, which become registers or distributed RAM.
"""

_BLACK_BOXES: Final = """\
Each memory below is an instance of a module in `{models}`: replace modules there by your macros,
with the same name, ports and behavior, or leave them to inference.
"""

_RAM_PORTS: Final = (
    ("clk", "in", "1", "The clock of the accelerator."),
    ("read_en", "in", "reads", "Bit k: port k reads its row of `read_addr` (1rw: `addr`)."),
    (
        "read_data",
        "out",
        "reads * bits",
        "Those rows from the next rising edge on, each until the "
        "next read of its port; port 0 has the low bits.",
    ),
    (
        "write_en",
        "in",
        "bits / element",
        "Bit k: write element k of the row `write_addr` (`addr`).",
    ),
    ("write_data", "in", "bits", "The row."),
    ("read_addr", "in", "reads * log2 rows", "1r1w, 2r1w ...: a row number for each read port."),
    ("write_addr", "in", "log2 rows", "1r1w, 2r1w ...: the row to write."),
    ("addr", "in", "log2 rows", "1rw: a row number; never `read_en` and `write_en` in one cycle."),
)

_COLLISION: Final = """\
A row may be read while elements of it are written (not in a 1rw memory): the other elements are
read as they are, and what is read of those that are written does not matter. Several read ports do
not know each other: as many copies with one port each, written together, are the same. Contents at
power-on do not matter.
"""

_REGISTER_MAP: Final = """\
32-bit words behind `s_axi`; of a 64-bit value, LO is at the offset and HI four bytes behind it.
Writes while busy are refused (SLVERR) unless access says otherwise. Bits of no field read as 0.
"""


def describe_design(design: Design, verilog: str, names: Mapping[str, str]) -> str:
    """The page, as Markdown, about a design in the file `verilog` and `names` beside it."""
    top = design.top
    parameters = ", ".join(f"{name} = {value}" for name, value in asdict(design.config).items())
    parts = [
        f"# {top.module}\n\n{top.summary}\n\nConfiguration: {parameters}.\n",
        "## Files\n",
        table(("file", "holds"), _files(design, verilog, names)),
        f"## Ports\n\n{_PORTS}",
        table(("port", "direction", "bits", "meaning"), map(_port_row, design.ports)),
        "## Memories\n",
        *_memories(design, names.get("models", "")),
        "## Errors\n",
        table(
            ("cause", "name", "meaning"),
            [(f"{int(cause)}", cause.name, describe(cause)) for cause in Cause],
        ),
    ]
    if top.registers:
        parts += [f"## Registers\n\n{_REGISTER_MAP}", _register_table(design.config)]
    return "\n".join(parts)


def _files(design: Design, verilog: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    yield f"`{verilog}`", f"`{design.top.module}` and the modules below it."
    if "models" in names:
        yield f"`{names['models']}`", "Models of the memories, to be replaced."
    yield f"`{names['listing']}`", "The Verilog files, for tools that take a list (`-F`)."


def _port_row(port: Port) -> tuple[str, ...]:
    return f"`{port.name}`", port.direction, str(port.bits), port.meaning


def _memories(design: Design, models: str) -> Iterator[str]:
    places: dict[str, list[str]] = defaultdict(list)
    inside: dict[tuple[int, int], list[str]] = defaultdict(list)
    for memory in design.memories:
        if memory.module is None:
            inside[memory.rows, memory.bits].append(memory.path)
        else:
            places[memory.module].append(memory.path)
    if not design.rams:
        yield _INFERRED
    else:
        yield _BLACK_BOXES.format(models=models)
        yield table(
            ("module", "rows", "bits", "element", "reads", "instances", "where"),
            [_ram_row(ram, places[ram.name]) for ram in design.rams],
        )
        yield table(("port", "direction", "bits", "meaning"), _RAM_PORTS)
        yield _COLLISION
        yield "What is read combinationally stays in the Verilog, as registers:\n"
    yield table(
        ("rows", "bits", "instances", "where"),
        [
            (str(rows), str(bits), str(len(paths)), _listed(paths))
            for (rows, bits), paths in sorted(inside.items(), reverse=True)
        ],
    )


def _ram_row(ram: Ram, paths: Sequence[str]) -> tuple[str, ...]:
    numbers = (ram.rows, ram.bits, ram.element_bits, ram.reads, len(paths))
    return (f"`{ram.name}`", *map(str, numbers), _listed(paths))


def _listed(paths: Iterable[str]) -> str:
    return ", ".join(f"`{path}`" for path in paths)


def _register_table(config: AcceleratorConfig) -> str:
    words = configuration_words(config)
    columns = ("offset", "register", "access", "reset", "bits", "meaning")
    rows = [
        row
        for register in REGISTERS.values()
        if not register.name.endswith("_HI")
        for row in _register_rows(register, words.get(register.name, register.reset or 0))
    ]
    return table(columns, rows)


def _register_rows(register: Register, reset: int) -> Iterator[tuple[str, ...]]:
    name, bits = register.name, "31:0"
    if name.endswith("_LO"):
        name, bits = name.removesuffix("_LO"), "63:0"
        reset |= (REGISTERS[f"{name}_HI"].reset or 0) << 32
    access = register.access.value + ("; also while busy" if register.while_busy else "")
    shown = "" if register.access is Access.WO else f"{reset:#x}"
    yield (f"{register.offset:#05x}", name, access, shown, bits, _flow(register.doc))
    for field in register.fields:
        place = bit_range(field.low, field.bits)
        yield "", f"&nbsp; {field.name}", "", "", place, _flow(field.doc)


def _flow(text: str) -> str:
    return text.replace(".  ", ". ")
