"""Simulates gates cycle by cycle, and adds up what their edges take.

There are no delays: a net has at most one edge in a cycle, and glitches are not counted.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from celosia.sim.export.silicon.power.netlist import GateNetlist, Port

__all__ = ["Bits", "Simulated", "bits_of", "simulate"]

Bits = NDArray[np.uint8]
"""The bits of a port: cycles x bits, the lowest first."""
_WARM_UP: Final = 1


@dataclass(frozen=True)
class Simulated:
    """What a simulation showed."""

    pj: NDArray[np.float64]
    """What edges took, clock pins apart, in each cycle but the first."""
    edges: NDArray[np.int64]
    """How many there were in each of these cycles."""
    clocked: NDArray[np.bool_]
    """Whether a flip-flop took over another value at the end of each of these cycles: whether an
    ideal gate of the module's clock would let an edge pass."""
    wrong: Mapping[str, float]
    """Outputs that are not what was recorded, with their share of wrong cycles."""


def bits_of(values: list[int], width: int) -> Bits:
    """Numbers as `Bits` of a port of `width` bits."""
    size = (width + 7) // 8
    raw = b"".join(value.to_bytes(size, "little") for value in values)
    octets = np.frombuffer(raw, np.uint8).reshape(len(values), size)
    return np.unpackbits(octets, axis=1, bitorder="little", count=width)


def simulate(
    netlist: GateNetlist,
    driven: Mapping[str, Bits],
    seen: Mapping[str, Bits],
    first: Mapping[str, Bits],
) -> Simulated:
    """Simulate `netlist`.

    `driven` has the ports of it by name, as many cycles of each; those that are not there are 0.
    Its outputs are compared with those in `seen`.  `first` has the values of named signals in the
    first cycle, one row of each: registers begin with theirs, all others with 0.
    """
    cycles = max(len(bits) for bits in driven.values())
    values = np.zeros(netlist.nets, np.uint8)
    values[1] = 1
    _begin(netlist, values, first)
    pins = np.concatenate([port.nets for port in netlist.driven])
    rows = np.concatenate(
        [_of(driven, port, cycles) for port in netlist.driven], axis=1, dtype=np.uint8
    )
    outputs = [port for port in netlist.seen if port.name in seen]
    wrong = dict.fromkeys((port.name for port in outputs), 0)
    pj, edges, clocked = np.zeros(cycles), np.zeros(cycles, np.int64), np.zeros(cycles, bool)
    before = values.copy()
    for cycle in range(cycles):
        values[pins] = rows[cycle]
        for level in netlist.levels:
            index = values[level.inputs[0]].astype(np.uint16)
            for place, nets in enumerate(level.inputs[1:], start=1):
                index |= values[nets].astype(np.uint16) << np.uint16(place)
            values[level.outputs] = (level.tables >> index) & 1
        changed = np.flatnonzero(values != before)
        up = values[changed] == 1
        pj[cycle] = netlist.rise_pj[changed[up]].sum() + netlist.fall_pj[changed[~up]].sum()
        edges[cycle] = len(changed)
        before = values.copy()
        for port in outputs:
            wrong[port.name] += not np.array_equal(values[port.nets], seen[port.name][cycle])
        following = values[netlist.data]
        clocked[cycle] = not np.array_equal(values[netlist.state], following)
        values[netlist.state] = following
    return Simulated(
        pj[_WARM_UP:],
        edges[_WARM_UP:],
        clocked[_WARM_UP:],
        {name: count / cycles for name, count in wrong.items() if count},
    )


def _begin(netlist: GateNetlist, values: Bits, first: Mapping[str, Bits]) -> None:
    kept = np.zeros(netlist.nets, bool)
    kept[netlist.state] = True
    for signal in netlist.registers:
        if signal.name in first:
            bits = first[signal.name].reshape(-1)[: len(signal.nets)]
            nets = signal.nets[: len(bits)]
            own = kept[nets]
            values[nets[own]] = bits[own]


def _of(driven: Mapping[str, Bits], port: Port, cycles: int) -> Bits:
    bits = driven.get(port.name)
    return np.zeros((cycles, len(port.nets)), np.uint8) if bits is None else bits
