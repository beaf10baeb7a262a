"""Gates with the delays of their cells in Icarus Verilog: every edge that there is in a cycle."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sim.export.silicon.power.gates import Bits
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator.toolchain import run_tools

__all__ = ["Edges", "TimedGate", "count_edges"]

_PERIOD_PS: Final = 100_000
"""Long behind the last edge of any cycle."""
_DUMP: Final = "edges.vcd"


@dataclass(frozen=True)
class TimedGate:
    """A gate, or what is given from outside: without inputs."""

    net: int
    table: int
    """Bit i: the output for inputs that make i, the first the lowest."""
    inputs: Sequence[int]
    rise_ps: int
    fall_ps: int


@dataclass(frozen=True)
class Edges:
    """How often each net rose and fell in all cycles but the first."""

    rises: NDArray[np.int64]
    falls: NDArray[np.int64]
    settled: Bits
    """The value of each net at the end of each cycle."""


def count_edges(gates: Sequence[TimedGate], given: Bits, work: Path) -> Edges:
    """Simulate `gates` with inertial delays, in `work`; `given` are the nets without inputs.

    Those are columns, in the order of `gates`, of which there is a row for each cycle, and change
    so long behind its begin as their delays say.  A net that is no gate's is its own number, 0 or
    1.  Raises `EnvironmentProblem` if Icarus is not there, or fails.
    """
    if shutil.which("iverilog") is None or shutil.which("vvp") is None:
        raise EnvironmentProblem("iverilog: is not there; Debian's package iverilog has it")
    rows = ["".join(map(str, row[::-1])) for row in given.tolist()]
    (work / "given.txt").write_text("\n".join(rows))
    (work / "gates.v").write_text("\n".join(_verilog(gates, given.shape)))
    for command in (["iverilog", "-g2005", "-o", "gates.vvp", "gates.v"], ["vvp", "gates.vvp"]):
        run_tools([command], work)
    return _read(work / _DUMP, [gate.net for gate in gates], len(given))


def _verilog(gates: Sequence[TimedGate], shape: tuple[int, int]) -> Iterator[str]:
    kinds = dict.fromkeys((gate.table, len(gate.inputs)) for gate in gates if gate.inputs)
    names = {kind: f"gate_{number}" for number, kind in enumerate(kinds)}
    for (table, count), name in names.items():
        yield f"primitive {name}(y, {', '.join(f'i{place}' for place in range(count))});"
        yield f"output y; input {', '.join(f'i{place}' for place in range(count))}; table"
        for index in range(1 << count):
            inputs = " ".join(str(index >> place & 1) for place in range(count))
            yield f"{inputs} : {table >> index & 1};"
        yield "endtable endprimitive"
    cycles, width = shape
    yield "`timescale 1ps/1ps"
    yield f"module bench; reg [{width - 1}:0] rows [0:{cycles - 1}]; integer cycle;"
    yield "wire n0 = 1'b0, n1 = 1'b1;"
    yield from (f"wire n{gate.net};" for gate in gates)
    # Bits of their own: of one wide register, Icarus takes minutes to find the parts.
    given = [f"given_{gate.net}" for gate in gates if not gate.inputs]
    yield f"reg {', '.join(given)};"
    for gate in gates:
        delay = f"#({gate.rise_ps}, {gate.fall_ps})"
        if gate.inputs:
            inputs = ", ".join(f"n{net}" for net in gate.inputs)
            kind = names[gate.table, len(gate.inputs)]
            yield f"{kind} {delay} g{gate.net}(n{gate.net}, {inputs});"
        else:
            yield f"assign {delay} n{gate.net} = given_{gate.net};"
    yield f'initial begin $readmemb("given.txt", rows); $dumpfile("{_DUMP}"); $dumpvars(0, bench);'
    yield f"for (cycle = 0; cycle < {cycles}; cycle = cycle + 1) begin"
    yield f"{{{', '.join(given[::-1])}}} = rows[cycle]; #{_PERIOD_PS}; end $finish; end endmodule"


def _read(path: Path, nets: Sequence[int], cycles: int) -> Edges:
    """What `path`, a VCD file, has of `nets`."""
    rises, falls = np.zeros((2, len(nets)), np.int64)
    settled = np.zeros((cycles, len(nets)), np.uint8)
    now, cycle = np.zeros(len(nets), np.uint8), 0
    for at, changes in _changes(path, {f"n{net}": place for place, net in enumerate(nets)}):
        while cycle < min(at // _PERIOD_PS, cycles):
            settled[cycle] = now
            cycle += 1
        for place, value in changes.items():
            if cycle and now[place] != value:
                (rises if value else falls)[place] += 1
            now[place] = value
    settled[cycle:] = now
    return Edges(rises, falls, settled)


def _changes(path: Path, columns: Mapping[str, int]) -> Iterator[tuple[int, dict[int, int]]]:
    """The values that changed at a time, by the columns of their nets.

    What changes twice at one time is listed once: it has no width.
    """
    places: dict[str, int] = {}
    at, changed = 0, dict[int, int]()
    with open(path, encoding="ascii") as file:
        for line in file:
            if line.startswith("$var"):
                words = line.split()
                if words[4] in columns:
                    places[words[3]] = columns[words[4]]
            elif line[0] == "#":
                yield at, changed
                at, changed = int(line[1:]), {}
            elif line[0] in "01" and (place := places.get(line[1:-1])) is not None:
                changed[place] = int(line[0])
    yield at, changed
