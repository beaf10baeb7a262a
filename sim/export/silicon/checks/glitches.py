"""What glitches add: a cell of the array, and a lane, with and without the delays of cells.

The gates in front of some registers are simulated with the values that all registers have, cycle by
cycle.  Without delays a net has an edge in a cycle at most; with them it has all that are longer
than the delay of its gate.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.config import AcceleratorConfig
from celosia.sim.export.silicon.cells.energies import read_energies
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.checks.icarus import TimedGate, count_edges
from celosia.sim.export.silicon.checks.short_run import record_short_run
from celosia.sim.export.silicon.power.gates import Stimulus, observed
from celosia.sim.export.silicon.power.mapped import map_gates
from celosia.sim.export.silicon.power.measure import MEASURED, scopes_of, stimulus_of
from celosia.sim.export.silicon.power.netlist import GateNetlist
from celosia.sim.export.silicon.power.recording import Design
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress, share

__all__ = ["Glitches", "add_glitches", "gates_before", "measure_glitches", "registers_of"]

_MESH: Final = f"{MEASURED[0]}.execute.array.mesh"
_LANES: Final = f"{MEASURED[0]}.transform.lanes.unit"
_SETTLED: Final = 0.001
"""The share of values at the ends of cycles that may differ from those without delays."""


@dataclass(frozen=True)
class Glitches:
    """What a part takes for edges, in pJ a cycle, clock pins apart."""

    part: str
    gates: int
    without_pj: float
    """If a net has an edge in a cycle at most."""
    with_pj: float

    @property
    def factor(self) -> float:
        """What glitches make of what edges take."""
        return self.with_pj / self.without_pj


def measure_glitches(
    design: Design, tools: tuple[Yosys, CellLibrary], at_once: int, tell: Progress
) -> list[Glitches]:
    """The glitches of one cell of the array and of one lane of `design`, in a short run.

    Raises what `map_gates`, `record` and `count_edges` raise, and `LibertyError` for a library that
    says nothing of energies.
    """
    known = (*tools, read_energies(tools[1].liberty))
    names = [_MESH, f"{_LANES}.polynomial", f"{_LANES}.scaler"]
    netlists = map_gates(known, design, names, at_once, share(tell, 0, 0.5))
    recorded = record_short_run(design, scopes_of(netlists), share(tell, 0.5, 0.8))
    stimuli = {name: stimulus_of(name, each, recorded) for name, each in netlists.items()}
    found = []
    for part, modules in _parts(design.config, names).items():
        tell(f"simulating gates with delays: {part}", 0.9)
        own = [
            add_glitches(netlists[name], stimuli[name], registers)
            for name, registers in modules.items()
        ]
        gates, without, with_ = (sum(column) for column in zip(*own, strict=True))
        found.append(Glitches(part, int(gates), without, with_))
    return found


def _parts(config: AcceleratorConfig, names: Sequence[str]) -> dict[str, dict[str, Sequence[str]]]:
    """The endings of the names of registers, module by module, of each part."""
    middle, lane = config.dim // 2, config.lanes // 2
    mesh, *lanes = names
    cell = [f"{kind}_{middle}_{middle}" for kind in ("weight", "activation", "sum")]
    return {
        f"cell {middle}, {middle} of the array": {mesh: cell},
        f"lane {lane}": {name: [f"_{lane}"] for name in lanes},
    }


def registers_of(netlist: GateNetlist, endings: Sequence[str]) -> NDArray[np.int32]:
    """The places of flip-flops that belong to signals whose names end so."""
    named = [port.nets for port in netlist.registers if port.name.endswith(tuple(endings))]
    nets = np.concatenate([np.zeros(0, np.int32), *named])
    return np.flatnonzero(np.isin(netlist.state, nets)).astype(np.int32)


def gates_before(netlist: GateNetlist, nets: Sequence[int]) -> list[TimedGate]:
    """The gates that `nets` depend on, and what these begin with, the latter first."""
    known: dict[int, tuple[int, list[int]]] = {}
    for level in netlist.levels:
        inputs = np.stack(level.inputs, axis=1).tolist()
        for output, table, own in zip(
            level.outputs.tolist(), level.tables.tolist(), inputs, strict=True
        ):
            while own and not own[-1]:  # No input, or one that is always 0.
                own.pop()
            known[output] = table & ((1 << (1 << len(own))) - 1), own
    # Registers elsewhere, and ports, change as late as registers here do.
    late = netlist.rise_ns[netlist.state].mean(), netlist.fall_ns[netlist.state].mean()
    begin: list[TimedGate] = []
    gates: list[TimedGate] = []
    waiting, seen = list(nets), {0, 1}
    while waiting:
        net = waiting.pop()
        if net in seen:
            continue
        seen.add(net)
        table, inputs = known.get(net, (0, []))
        driven = netlist.rise_ns[net], netlist.fall_ns[net]
        rise, fall = (round(1000 * ns) for ns in (driven if inputs or any(driven) else late))
        (gates if inputs else begin).append(TimedGate(net, table, inputs, rise, fall))
        waiting += inputs
    return [*begin, *gates]


def add_glitches(
    netlist: GateNetlist, stimulus: Stimulus, endings: Sequence[str]
) -> tuple[int, float, float]:
    """Gates before some registers, and what edges take without and with delays, in pJ a cycle.

    The registers are those of the signals whose names end in one of `endings`; their own edges are
    in it.  Raises
    `EnvironmentProblem` if values at the ends of cycles depend on delays, and what `count_edges`
    raises.
    """
    places = registers_of(netlist, endings)
    own = {*netlist.state[places].tolist()}
    gates = gates_before(netlist, [*netlist.data[places].tolist(), *own])
    nets = np.array([gate.net for gate in gates], np.int32)
    values = observed(netlist, stimulus, nets)
    given = np.array([not gate.inputs for gate in gates])
    with tempfile.TemporaryDirectory(prefix="celosia-glitches-") as work:
        edges = count_edges(gates, values[:, given], Path(work))
    if (edges.settled != values).mean() > _SETTLED:
        raise EnvironmentProblem("Icarus: values at the ends of cycles are not those of the gates")
    counted = ~given | np.isin(nets, list(own))
    rise, fall = netlist.rise_pj[nets] * counted, netlist.fall_pj[nets] * counted
    cycles = len(values) - 1
    changes = np.diff(values.astype(np.int8), axis=0)
    without = (changes > 0).sum(axis=0) @ rise + (changes < 0).sum(axis=0) @ fall
    with_ = edges.rises @ rise + edges.falls @ fall
    return int((~given).sum()), float(without) / cycles, float(with_) / cycles
