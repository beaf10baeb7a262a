"""Writes a wire that is assigned part by part as one assignment.

Verilator puts each part into the wire apart, in every cycle, whether or not anybody looks.  One
assignment of the whole it can look through: who reads a part gets that part.  And
`celosia.sim.verilator.netlist.sink` can move it::

    assign { w[31:29], w[25:0] } = { a, b };        assign p = { a, b };
    assign w[28:26] = 3'h7;                   =>    assign q = 3'h7;
                                                    assign w = { p[28:26], q, p[25:0] };

The text must be what `celosia.sim.verilator.verilog` makes of Yosys' output.  A wire of which some
bits are driven otherwise stays as it is.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from celosia.sim.verilator.netlist.text import NAME, at_the_end, each_module

__all__ = ["join_parts"]

_WIRE = re.compile(rf"  wire (?:\[(\d+):0\] )?({NAME}) ?;\n")
_PART = re.compile(rf"({NAME}) ?(?:\[(\d+)(?::(\d+))?\])? ?")
_PARTIAL = re.compile(rf"  assign ({NAME} ?\[[^]]*\] ?|\{{ [^}}]* \}} )= (.*);\n")


@dataclass(frozen=True)
class _Part:
    """Bits of a wire, and those of a statement's value that they take."""

    wire: str
    low: int
    width: int
    statement: int
    place: int


def join_parts(verilog: str) -> str:
    """`verilog`, with one assignment for each wire of which all parts are assigned."""
    return each_module(verilog, _join_module)


def _join_module(module: str) -> str:
    widths = {match[2].strip(): int(match[1] or 0) + 1 for match in _WIRE.finditer(module)}
    statements = [*_PARTIAL.finditer(module)]
    parts: dict[str, list[_Part]] = defaultdict(list)
    for number, statement in enumerate(statements):
        for part in _parts(statement[1], number, widths):
            parts[part.wire].append(part)
    taken = _complete(parts, widths, [statement[2] for statement in statements])
    if not taken:
        return module
    sizes = defaultdict(int)
    for part in (part for wire in taken for part in parts[wire]):
        sizes[part.statement] += part.width
        statement = statements[part.statement]
        module = module.replace(statement[0], "", 1)
    block = []
    for number, size in sorted(sizes.items()):
        block += [
            f"  wire [{size - 1}:0] {_value(number)};\n",
            f"  assign {_value(number)} = {statements[number][2]};\n",
        ]
    for wire in sorted(taken):
        pieces = sorted(parts[wire], key=lambda part: -part.low)
        whole = ", ".join(
            f"{_value(piece.statement)}[{piece.place + piece.width - 1}:{piece.place}]"
            for piece in pieces
        )
        block.append(f"  assign {wire} = {{ {whole} }};\n")
    return at_the_end(module, "".join(block))


def _value(statement: int) -> str:
    return f"\\$part${statement} "


def _parts(target: str, statement: int, widths: dict[str, int]) -> Iterator[_Part]:
    """What the left side of an assignment names, from its lowest bit on."""
    place = 0
    for match in reversed([*_PART.finditer(target)]):
        name = match[1]
        high = int(match[2]) if match[2] else widths.get(name.strip(), 1) - 1
        low = int(match[3]) if match[3] else high if match[2] else 0
        yield _Part(name, low, high - low + 1, statement, place)
        place += high - low + 1


def _complete(parts: dict[str, list[_Part]], widths: dict[str, int], values: list[str]) -> set[str]:
    """The wires of which all bits are assigned, by statements that assign nothing else."""
    taken = set()
    for wire, found in parts.items():
        bits = sorted(bit for part in found for bit in range(part.low, part.low + part.width))
        own = any(wire.strip() in values[part.statement] for part in found)
        if bits == [*range(widths.get(wire.strip(), 0))] and not own:
            taken.add(wire)
    while True:
        others = {part.statement for wire in parts.keys() - taken for part in parts[wire]}
        kept = {wire for wire in taken if not others & {part.statement for part in parts[wire]}}
        if kept == taken:
            return taken
        taken = kept
