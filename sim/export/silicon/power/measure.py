"""Measures energies of events: maps the units, records their operands, and simulates gates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.functions.table import Function
from celosia.sim.export.silicon.area.units import unit_of
from celosia.sim.export.silicon.energy.unit_events import lane_step
from celosia.sim.export.silicon.power.events import (
    COUNTERS_SCOPE,
    GROUPS,
    OTHERS,
    SCOPES,
    SpentBy,
    counted,
    happened,
)
from celosia.sim.export.silicon.power.fit import Window
from celosia.sim.export.silicon.power.gates import MOST_WINDOWS, Stimulus, simulate
from celosia.sim.export.silicon.power.netlist import GateNetlist
from celosia.sim.export.silicon.power.recording import READ, Design, record
from celosia.sim.export.silicon.power.waves import Recorded
from celosia.sim.export.silicon.power.windows import WARM_UP, choose_windows
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.progress import Progress, share
from celosia.sim.verilator.build import MODEL_TOP

__all__ = [
    "MEASURED",
    "GroupWindow",
    "Sample",
    "group_of",
    "halves",
    "measure_windows",
    "scopes_of",
    "stimulus_of",
    "windows_of",
]

MEASURED: Final = (f"{MODEL_TOP}.accelerator", f"{MODEL_TOP}.counters")
"""The places whose modules are measured: what `celosia verilog --top core` is of."""
WANTED: Final = ("array_row", "command", *map(lane_step, Function))
"""What windows are chosen for."""


@dataclass
class GroupWindow:
    """What a group of units spent in the cycles of a window."""

    pj: NDArray[np.floating[Any]]
    """For edges, clock pins apart."""
    gated_pj: NDArray[np.floating[Any]]
    """For clock pins, if each module had an ideal gate."""


@dataclass
class Sample:
    """A window that was simulated."""

    events: Mapping[str, NDArray[np.floating[Any]]]
    groups: dict[str, GroupWindow]
    wrong: dict[str, float] = field(default_factory=dict[str, float])
    """Outputs that were not what was recorded, with their share of cycles."""

    def of(self, group: SpentBy, gated: bool) -> Window:
        """What `group` spent: for edges, or for gated clock pins."""
        spent = self.groups[group.meaning]
        return Window(self.events, spent.gated_pj if gated else spent.pj)


def halves(sample: Sample) -> tuple[Sample, Sample]:
    """Two samples of one window: its first cycles, and the others."""
    middle = len(next(iter(sample.events.values()))) // 2

    def part(cycles: slice) -> Sample:
        groups = {
            name: GroupWindow(spent.pj[cycles], spent.gated_pj[cycles])
            for name, spent in sample.groups.items()
        }
        return Sample({name: counts[cycles] for name, counts in sample.events.items()}, groups)

    return part(slice(None, middle)), part(slice(middle, None))


def group_of(module: str) -> SpentBy:
    """The group that a module, named after its place, belongs to."""
    unit = unit_of(module.partition(".")[2])
    return next((group for group in GROUPS if unit in group.units), OTHERS)


def windows_of(
    design: Design, options: RunOptions, span: tuple[int, int], tell: Progress
) -> list[tuple[int, int]]:
    """Windows of `span` cycles of a run in which all happens that happens there."""
    scope = COUNTERS_SCOPE
    (recorded,) = record(design, options, [span], [scope], tell, only=scope)
    return choose_windows(counted(recorded[scope], design.config), span[0], [*WANTED])


def measure_windows(
    design: Design,
    netlists: Mapping[str, GateNetlist],
    options: RunOptions,
    windows: Sequence[tuple[int, int]],
    tell: Progress,
) -> list[Sample]:
    """Simulate each of `netlists` with what was recorded at its ports in each of `windows`."""
    events, stimuli = [], []
    scopes = {*scopes_of(netlists), *SCOPES}
    for recorded in record(design, options, windows, scopes, tell):
        events.append({
            name: counts[WARM_UP:] for name, counts in happened(recorded, design.config).items()
        })
        stimuli.append({
            name: stimulus_of(name, netlist, recorded) for name, netlist in netlists.items()
        })
    samples = []
    for first in range(0, len(windows), MOST_WINDOWS):
        some = slice(first, first + MOST_WINDOWS)
        samples += _samples(netlists, events[some], stimuli[some], share(tell, READ, 1))
    return samples


def _samples(
    netlists: Mapping[str, GateNetlist],
    events: Sequence[Mapping[str, NDArray[np.floating[Any]]]],
    stimuli: Sequence[Mapping[str, Stimulus]],
    tell: Progress,
) -> list[Sample]:
    cycles = len(next(iter(events[0].values())))
    samples = [
        Sample(
            each,
            {
                group.meaning: GroupWindow(np.zeros(cycles), np.zeros(cycles))
                for group in (*GROUPS, OTHERS)
            },
        )
        for each in events
    ]
    for number, (name, netlist) in enumerate(netlists.items()):
        tell(f"simulating gates of {name}", number / len(netlists))
        found = simulate(netlist, [window[name] for window in stimuli])
        for sample, done in zip(samples, found, strict=True):
            spent = sample.groups[group_of(name).meaning]
            spent.pj += done.pj[-cycles:]
            spent.gated_pj += done.clocked[-cycles:] * netlist.clock_pj
            for port, wrong in done.wrong.items():
                sample.wrong[f"{name}.{port}"] = wrong
    return samples


def scopes_of(netlists: Mapping[str, GateNetlist]) -> set[str]:
    """Where the signals are that drive `netlists`, named after their places."""
    parts = {
        f"{name}.{port.name.rpartition('.')[0]}"
        for name, netlist in netlists.items()
        for port in netlist.driven
        if "." in port.name
    }
    return {*netlists, *parts}


def stimulus_of(
    module: str, netlist: GateNetlist, recorded: Mapping[str, Recorded], *, flat: bool = False
) -> Stimulus:
    """What was recorded of a netlist: what drives it, outputs of modules in it among that.

    A `flat` one has the registers of the modules below it.
    """
    own = recorded[module].signals
    driven = {}
    for port in netlist.driven:
        instance, dot, name = port.name.rpartition(".")
        driven[port.name] = recorded[module + dot + instance].signals[name].copy()
    seen = {port.name: own[port.name].copy() for port in netlist.seen if port.name in own}
    first = {name: bits[:1].copy() for name, bits in own.items()}
    for scope, each in recorded.items() if flat else ():
        if scope.startswith(f"{module}."):
            below = scope.removeprefix(f"{module}.")
            first |= {f"{below}.{name}": bits[:1].copy() for name, bits in each.signals.items()}
    return Stimulus(driven, seen, first)
