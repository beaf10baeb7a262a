"""A module of cells as arrays: levels of gates, registers, and what each net's edges take."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.sim.export.silicon.cells.energies import CellEnergy, Energies
from celosia.sim.export.silicon.synthesis.modules import PART, TOP
from celosia.sim.support.errors import EnvironmentProblem

__all__ = ["MOST_INPUTS", "WIRE_PF", "GateNetlist", "Level", "Port", "read_netlist"]

WIRE_PF: Final = 0.01
"""The wire to each input that a net drives, in pF: 40 um or so of a 180 nm process."""
MOST_INPUTS: Final = 4
_ZERO, _ONE = 0, 1
"""The nets that are constants."""

Indices = NDArray[np.int32]


@dataclass(frozen=True)
class Port:
    """Nets that the rest of the design drives, or sees."""

    name: str
    """Its name in the module, or ``instance.port`` of a module in it."""
    nets: Indices
    """The lowest bit first."""


@dataclass(frozen=True)
class Level:
    """Gates whose inputs are all known behind the levels before."""

    tables: NDArray[np.uint16]
    """Bit i of each: its output for inputs that make i, the first the lowest."""
    inputs: tuple[Indices, ...]
    """The nets at the first inputs, the second ones, ..."""
    outputs: Indices


@dataclass(frozen=True)
class GateNetlist:
    """What a module was mapped to."""

    nets: int
    """How many there are; the first are the constants 0 and 1."""
    levels: Sequence[Level]
    data: Indices
    """What each flip-flop takes over."""
    state: Indices
    """The output of each flip-flop."""
    driven: Sequence[Port]
    """What drives it; its clock is not among them."""
    seen: Sequence[Port]
    """Its outputs."""
    registers: Sequence[Port]
    """Signals that have a name, for their first values."""
    rise_pj: NDArray[np.float64]
    """What a rise of each net takes: in the cell that drives it, in wire and pins, and in those."""
    fall_pj: NDArray[np.float64]
    rise_ns: NDArray[np.float64]
    """How long the cell that drives each net takes for a rise; 0 of what no cell drives."""
    fall_ns: NDArray[np.float64]
    clock_pj: float
    """What the clock pins of all flip-flops take in a cycle."""
    leakage_nw: float

    @property
    def flip_flops(self) -> int:
        """How many there are."""
        return len(self.state)

    @property
    def gates(self) -> int:
        """Outputs of gates."""
        return sum(len(level.outputs) for level in self.levels)


@dataclass
class _Gate:
    table: int
    inputs: list[int]
    output: int


class _Reader:
    """Collects what a netlist is of."""

    def __init__(self, energies: Energies, outputs: Mapping[str, Sequence[str]]):
        self.energies, self.part_outputs = energies, outputs
        self.numbers: dict[int | str, int] = {"0": _ZERO, "x": _ZERO, "z": _ZERO, "1": _ONE}
        self.loads: dict[int, float] = defaultdict(float)
        self.sinks: dict[int, list[float]] = defaultdict(lambda: [0.0, 0.0])
        self.drivers: dict[int, tuple[CellEnergy, str]] = {}
        self.gates: list[_Gate] = []
        self.registers: list[tuple[int, int]] = []
        self.driven: list[Port] = []
        self.clock_pj = self.leakage_nw = 0.0

    def net(self, bit: int | str) -> int:
        # Three of the names are one constant.
        return self.numbers.setdefault(bit, len(self.numbers) - 2)

    def port(self, name: str, bits: Sequence[int | str]) -> Port:
        return Port(name, np.array([self.net(bit) for bit in bits], np.int32))

    def instance(self, name: str, cell: Mapping[str, Any]) -> None:
        kind, connections = cell["type"], cell["connections"]
        if kind in self.part_outputs:
            for pin in self.part_outputs[kind]:
                if pin in connections:
                    self.driven.append(self.port(f"{name}.{pin}", connections[pin]))
            return
        if kind not in self.energies.cells:
            raise EnvironmentProblem(f"{name}: the library says no energy of {kind}")
        known = self.energies.cells[kind]
        nets = {pin: self.net(bits[0]) for pin, bits in connections.items()}
        self.leakage_nw += known.leakage_nw
        for pin, what in known.inputs.items():
            if pin == known.clock:
                swing = self.energies.volts**2 * (what.pf + WIRE_PF)
                self.clock_pj += swing + what.rise_pj + what.fall_pj
                continue
            self.loads[nets[pin]] += what.pf + WIRE_PF
            sink = self.sinks[nets[pin]]
            sink[0] += what.rise_pj
            sink[1] += what.fall_pj
        for pin, output in known.outputs.items():
            if pin not in nets:
                continue
            self.drivers[nets[pin]] = (known, pin)
            if known.clock:
                self.registers.append((nets[known.data], nets[pin]))
            else:
                inputs = [nets[name] for name in known.inputs]
                self.gates.append(_Gate(output.table, inputs, nets[pin]))

    def edges(self, nets: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a rise and a fall of each net take.

        Half of C V squared is lost in each, whoever drives the net; a port that is seen has its
        load where it is received.
        """
        taken = np.zeros((2, nets))
        for net, load in self.loads.items():
            taken[:, net] += load * self.energies.volts**2 / 2
            taken[:, net] += self.sinks[net]
        for net, (cell, pin) in self.drivers.items():
            output = cell.outputs[pin]
            for edge, values in enumerate((output.rise_pj, output.fall_pj)):
                taken[edge, net] += np.interp(self.loads[net], output.loads, values)
        taken[:, :2] = 0.0
        return taken[0], taken[1]

    def delays(self, nets: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """How long a rise and a fall of each net take, in ns, in the cell that drives it."""
        found = np.zeros((2, nets))
        for net, (cell, pin) in self.drivers.items():
            output = cell.outputs[pin]
            for edge, values in enumerate((output.rise_ns, output.fall_ns)):
                found[edge, net] = np.interp(self.loads[net], output.loads, values)
        return found[0], found[1]


def read_netlist(text: str, energies: Energies) -> GateNetlist:
    """The module `TOP` of what Yosys wrote as JSON.

    Outputs of the modules that it instantiates drive it.  Raises `EnvironmentProblem` for a cell
    that `energies` lack, and for gates that drive themselves.
    """
    modules = json.loads(text)["modules"]
    module = modules[TOP]
    part_outputs = {
        name: [pin for pin, port in part["ports"].items() if port["direction"] == "output"]
        for name, part in modules.items()
        if name.startswith(PART)
    }
    reader = _Reader(energies, part_outputs)
    for name, cell in module["cells"].items():
        reader.instance(name, cell)
    clocks = {
        cell["connections"][energies.cells[cell["type"]].clock][0]
        for cell in module["cells"].values()
        if cell["type"] in energies.cells and energies.cells[cell["type"]].clock
    }
    if len(clocks) > 1:
        raise EnvironmentProblem("a module has several clocks")
    ports = module["ports"].items()
    for name, port in ports:
        if port["direction"] == "input" and not clocks & {*port["bits"]}:
            reader.driven.append(reader.port(name, port["bits"]))
    seen = [
        reader.port(name, port["bits"]) for name, port in ports if port["direction"] == "output"
    ]
    registers = [reader.port(name, signal["bits"]) for name, signal in module["netnames"].items()]
    nets = len(reader.numbers) - 2
    data, state = np.array(reader.registers, np.int32).reshape(-1, 2).T
    known = {_ZERO, _ONE, *map(int, state)}
    for port in reader.driven:
        known |= {*map(int, port.nets)}
    return GateNetlist(
        nets,
        _levels(reader.gates, known),
        data,
        state,
        reader.driven,
        seen,
        registers,
        *reader.edges(nets),
        *reader.delays(nets),
        reader.clock_pj,
        reader.leakage_nw,
    )


def _levels(gates: Sequence[_Gate], known: set[int]) -> list[Level]:
    waits: dict[int, list[int]] = defaultdict(list)
    missing = []
    for number, gate in enumerate(gates):
        unknown = {net for net in gate.inputs if net not in known}
        missing.append(len(unknown))
        for net in unknown:
            waits[net].append(number)
    ready = [number for number, count in enumerate(missing) if not count]
    levels, done = [], 0
    while ready:
        done += len(ready)
        levels.append(_level([gates[number] for number in ready]))
        following = []
        for number in ready:
            for waiting in waits.get(gates[number].output, ()):
                missing[waiting] -= 1
                if not missing[waiting]:
                    following.append(waiting)
        ready = following
    if done != len(gates):
        stuck = len(gates) - done
        raise EnvironmentProblem(f"{stuck} gates depend on themselves, or on what nothing drives")
    return levels


def _level(gates: Sequence[_Gate]) -> Level:
    most = max(len(gate.inputs) for gate in gates)
    assert most <= MOST_INPUTS, "tables have 16 bits"
    columns = [
        np.array(
            [gate.inputs[place] if place < len(gate.inputs) else _ZERO for gate in gates], np.int32
        )
        for place in range(most)
    ]
    return Level(
        np.array([gate.table for gate in gates], np.uint16),
        tuple(columns),
        np.array([gate.output for gate in gates], np.int32),
    )
