"""What a Liberty file says of energies and delays of its cells, and what they compute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from celosia.sim.export.silicon.cells.groups import Group, read_groups
from celosia.sim.export.silicon.cells.liberty import LibertyError
from celosia.sim.export.silicon.cells.truth import truth_table

__all__ = ["SLEW_NS", "CellEnergy", "Energies", "Output", "Pin", "read_energies"]

SLEW_NS: Final = 0.18
"""The slew that all inputs are taken to have: an entry of the tables of most cells."""
_UNITS: Final = {"time_unit": "1ns", "voltage_unit": "1V", "leakage_power_unit": "1nW"}
_POWER: Final = ("internal_power", "{}_power")
_DELAY: Final = ("timing", "cell_{}")
_LOAD: Final = "total_output_net_capacitance"


@dataclass(frozen=True)
class Pin:
    """An input."""

    pf: float
    """Its capacitance."""
    rise_pj: float
    """What its rise takes within the cell, whatever the outputs do."""
    fall_pj: float


@dataclass(frozen=True)
class Output:
    """An output: what it computes, and what its transitions take within the cell."""

    table: int
    """Bit i: its value for the inputs whose bits make i, the first the lowest; 0 of flip-flops."""
    loads: Sequence[float]
    rise_pj: Sequence[float]
    """What a rise takes with each of `loads`, in pF: the mean of all arcs."""
    fall_pj: Sequence[float]
    rise_ns: Sequence[float]
    """How long it rises behind the input, or the clock, with each of `loads`: the mean of all arcs;
    0 if the library does not say."""
    fall_ns: Sequence[float]


@dataclass(frozen=True)
class CellEnergy:
    """A cell."""

    inputs: Mapping[str, Pin]
    outputs: Mapping[str, Output]
    leakage_nw: float
    clock: str = ""
    """The pin whose rising edge takes `data` over; empty: no flip-flop of that kind."""
    data: str = ""


@dataclass(frozen=True)
class Energies:
    """The cells of a library."""

    cells: Mapping[str, CellEnergy]
    volts: float


def read_energies(liberty: str) -> Energies:
    """The energies in a Liberty file.

    Cells that are neither combinational nor flip-flops of one rising clock, whose outputs are what
    they hold, are left out: synthesis does not use them here.  Raises `LibertyError` for other
    units than ns, V, pF and nW, and for a library that has no internal power.
    """
    library = read_groups(liberty)
    for unit, wanted in _UNITS.items():
        if library.values.get(unit) != wanted:
            raise LibertyError(f"{unit} is {library.values.get(unit)!r}, and not {wanted!r}")
    if library.values.get("capacitive_load_unit", "").replace(" ", "").lower() != "1,pf":
        raise LibertyError("capacitive_load_unit is not (1,pf)")
    templates = {
        group.name: group.values["variable_1"] == _LOAD
        for kind in ("power_lut_template", "lu_table_template")
        for group in library.all(kind)
        if "variable_1" in group.values
    }
    cells = {
        group.name: cell
        for group in library.all("cell")
        if (cell := _cell(group, templates)) is not None
    }
    if not any(any(out.rise_pj) for cell in cells.values() for out in cell.outputs.values()):
        raise LibertyError("has no internal power of any cell")
    return Energies(cells, float(library.values["nom_voltage"]))


def _cell(group: Group, templates: Mapping[str, bool]) -> CellEnergy | None:
    pins = list(group.all("pin"))
    inputs = {pin.name: pin for pin in pins if pin.values.get("direction") == "input"}
    outputs = {pin.name: pin for pin in pins if pin.values.get("direction") == "output"}
    flip_flop = next(group.all("ff"), None)
    clock = data = ""
    if flip_flop is not None:
        clock, data = flip_flop.values["clocked_on"], flip_flop.values["next_state"]
        if {clock, data} != inputs.keys() or len(outputs) != 1:
            return None
    elif list(group.all("latch")) or any(
        "function" not in pin.values or "three_state" in pin.values for pin in outputs.values()
    ):
        return None
    names = [*inputs]
    return CellEnergy(
        {name: _pin(pin, templates) for name, pin in inputs.items()},
        {
            name: _output(
                pin, 0 if flip_flop else truth_table(pin.values["function"], names), templates
            )
            for name, pin in outputs.items()
        },
        float(group.values.get("cell_leakage_power", 0)),
        clock,
        data,
    )


def _pin(pin: Group, templates: Mapping[str, bool]) -> Pin:
    rise, fall = (_at_slew(pin, _POWER, edge, templates)[1][0] for edge in ("rise", "fall"))
    return Pin(float(pin.values["capacitance"]), rise, fall)


def _output(pin: Group, table: int, templates: Mapping[str, bool]) -> Output:
    loads, rise = _at_slew(pin, _POWER, "rise", templates)
    _, fall = _at_slew(pin, _POWER, "fall", templates)
    delays = []
    for edge in ("rise", "fall"):
        delay_loads, delay = _at_slew(pin, _DELAY, edge, templates)
        delays.append([float(ns) for ns in np.interp(loads, delay_loads, delay)])
    return Output(table, loads, rise, fall, *delays)


def _at_slew(
    pin: Group, kind: tuple[str, str], edge: str, templates: Mapping[str, bool]
) -> tuple[Sequence[float], Sequence[float]]:
    """Loads, and what there is of `kind` at them and at `SLEW_NS`, the mean of all tables."""
    groups, name = kind
    tables = [table for group in pin.all(groups) for table in group.all(name.format(edge))]
    if not tables:
        return [0.0], [0.0]
    found = []
    for table in tables:
        first, second = table.numbers("index_1"), table.numbers("index_2")
        if not second:  # Of an input: by its slew alone.
            found.append(([0.0], [float(np.interp(SLEW_NS, first, table.numbers("values")))]))
            continue
        values = np.reshape(table.numbers("values"), (len(first), len(second)))
        loads, slews = first, second
        if not templates[table.name]:
            loads, slews, values = second, first, values.T
        found.append((loads, [float(np.interp(SLEW_NS, slews, row)) for row in values]))
    loads = found[0][0]
    means = np.mean([np.interp(loads, *each) for each in found], axis=0)
    return loads, [float(mean) for mean in means]
