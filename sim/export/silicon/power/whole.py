"""All of a measurement: mapping, recording, simulating gates, and the table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sim.export.silicon.cells.energies import SLEW_NS, read_energies
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.energy.table import EnergyTable, Entry
from celosia.sim.export.silicon.energy.unit_events import CLOCK, TRANSFORM_CLOCK
from celosia.sim.export.silicon.power.kept import is_kept, kept_samples, kept_windows, key_of
from celosia.sim.export.silicon.power.mapped import map_gates
from celosia.sim.export.silicon.power.measure import (
    MEASURED,
    Sample,
    halves,
    measure_windows,
    windows_of,
)
from celosia.sim.export.silicon.power.netlist import WIRE_PF, GateNetlist
from celosia.sim.export.silicon.power.operands import PERIOD, PULSE, spent_with
from celosia.sim.export.silicon.power.recording import Design, write_design
from celosia.sim.export.silicon.power.report import CellCheck, PowerReport
from celosia.sim.export.silicon.power.table_file import (
    entries_of,
    memory_entries,
    static_of,
    table_text,
)
from celosia.sim.export.silicon.power.texts import RecordedRun
from celosia.sim.export.silicon.synthesis.modules import split_modules
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.support.progress import Progress, share

__all__ = ["Measurement", "measure_power"]

_MESH: Final = f"{MEASURED[0]}.execute.array.mesh"
_MAPPING: Final = 0.5
"""The share of a measurement that Yosys takes, about."""
_CHOOSING: Final = 0.4
"""The share of a text that its windows take until they are chosen, about."""
_SCALER: Final = f"{MEASURED[0]}.load.unit.rows.scaler"


@dataclass(frozen=True)
class Measurement:
    """What `measure_power` found."""

    report: PowerReport
    text: str
    """The table as a file has it."""
    sets: Sequence[Sequence[Sample]]
    """The windows of each text."""
    beside: Mapping[str, Entry]
    """The entries that operands of their own have told."""


def measure_power(
    name: str,
    config: AcceleratorConfig,
    tools: tuple[Yosys, CellLibrary],
    runs: Sequence[RecordedRun],
    at_once: int,
    tell: Progress,
) -> Measurement:
    """Measure the energies of events of `config`, which is called `name`.

    Raises what `map_gates` and `record` raise, and `LibertyError` for a library that says nothing
    of energies.
    """
    yosys, library = tools
    energies = read_energies(library.liberty)
    tell("writing the Verilog", None)
    design = write_design(config)
    modules = [each for each in split_modules(design.verilog) if each.startswith(MEASURED)]
    key = [design.verilog, design.models, yosys.identity, library.liberty]
    keys = [key_of([*key, repr(run)]) for run in runs]
    left = [each for each in keys if not is_kept(each)]
    first = _MAPPING if left else 1.0
    netlists = map_gates(
        (yosys, library, energies), design, modules, at_once, share(tell, 0, first)
    )
    sets: list[list[Sample]] = []
    for own_key, run in zip(keys, runs, strict=True):
        begun = left.index(own_key) if own_key in left else 0
        begin, end = (first + (1 - first) * (begun + n) / max(len(left), 1) for n in (0, 1))
        own = share(tell, begin, end)
        sets.append(kept_samples(own_key, partial(_samples, design, netlists, run, own_key, own)))
    return summed_up(name, design, netlists, sets, (library.identity, energies.volts))


def _samples(
    design: Design, netlists: Mapping[str, GateNetlist], run: RecordedRun, key: str, tell: Progress
) -> list[Sample]:
    choose = partial(windows_of, design, run.options, run.span, share(tell, 0, _CHOOSING))
    windows = kept_windows(key, choose)
    return measure_windows(design, netlists, run.options, windows, share(tell, _CHOOSING, 1))


def summed_up(
    name: str,
    design: Design,
    netlists: Mapping[str, GateNetlist],
    sets: Sequence[Sequence[Sample]],
    library: tuple[str, float],
) -> Measurement:
    """The table, by what was simulated; `library` is its name, and its supply."""
    identity, volts = library
    netlist, dim = netlists[_MESH], design.config.dim
    beside = {
        "weight_byte": Entry(_weight_pj(netlist, dim), "cells: random weights, activations of 0"),
        "scaled_load_byte": Entry(
            _scaled_load_pj(netlists[_SCALER], dim), "load scaler: random operands"
        ),
    }
    # Of each text, the first halves of all windows and the second ones.
    parts = [list(half) for each in sets for half in zip(*map(halves, each), strict=True)]
    entries = entries_of(parts, static_of(netlists), beside)
    mac = entries["mac"].pj or 0.0
    units = len(entries)
    entries |= memory_entries(design.config, volts)
    head = [
        f"celosia power --preset {name} --texts {len(sets)}: {identity},",
        f"{volts:g} V, slews of {SLEW_NS:g} ns, {1000 * WIRE_PF:g} fF of wire to each input; no "
        "clock tree, no glitches.",
        "pj: what edges take; clock_pj: clock pins beside, if each module had a clock gate (then",
        f"{CLOCK} and {TRANSFORM_CLOCK} are nothing).  Operands are of MiniLM's layers.",
        f"The first {units} entries are measured, those of memories are of a formula.",
    ]
    title = f"{name}, OSU018" if "osu018" in identity.lower() else f"{name}, {identity}"
    samples = [sample for each in sets for sample in each]
    outputs = len(samples) * sum(len(each.seen) for each in netlists.values())
    check = CellCheck(
        zero=_product_pj(netlist, dim, 0), real=mac, random=_product_pj(netlist, dim, None)
    )
    return Measurement(
        PowerReport(EnergyTable(title, entries), check, samples, outputs),
        table_text(title, head, entries),
        sets,
        beside,
    )


def _product_pj(mesh: GateNetlist, dim: int, activation: int | None) -> float:
    """What a cell takes for a product of a random weight with `activation`; None: a random one."""
    return spent_with(mesh, {"a": activation}, holding="weight_") / dim**2


def _weight_pj(mesh: GateNetlist, dim: int) -> float:
    """What the array takes for a byte of weights that moves in, and is used next."""
    swap = next(port.name for port in mesh.driven if port.name.startswith("swap"))
    operands = {"weights": None, "weights_start": PULSE, swap: PULSE}
    return spent_with(mesh, operands) * PERIOD / dim**2


def _scaled_load_pj(scaler: GateNetlist, dim: int) -> float:
    """What the load scaler takes for a byte with random operands and random scales."""
    operands = {
        port.name: 1 if port.name in ("enable", "advance") else None
        for port in scaler.driven
        if port.name != "rst"
    }
    return spent_with(scaler, operands) / dim
