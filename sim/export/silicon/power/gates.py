"""Simulates gates cycle by cycle, and adds up what their edges take.

There are no delays: a net has at most one edge in a cycle, and glitches are not counted.  The loops
are C++ (``gates.cpp``), compiled when they are first used: up to `MOST_WINDOWS` windows are
simulated at once, a bit of a word each.
"""

import ctypes
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.sim.export.silicon.power.netlist import MOST_INPUTS, GateNetlist, Port
from celosia.sim.support.cache import cached, digest
from celosia.sim.verilator.toolchain import find_compiler, run_tools

__all__ = ["MOST_WINDOWS", "Bits", "Simulated", "Stimulus", "bits_of", "observed", "simulate"]

Bits = NDArray[np.uint8]
"""The bits of a port: cycles x bits, the lowest first."""
MOST_WINDOWS: Final = 64
_WARM_UP: Final = 1
_SOURCE: Final = Path(__file__).with_name("gates.cpp")
_Words = NDArray[np.uint64]


@dataclass(frozen=True)
class Stimulus:
    """What is at the ports of a netlist in the cycles of a window."""

    driven: Mapping[str, Bits]
    """Its inputs by name, as many cycles of each; those that are not there are 0."""
    seen: Mapping[str, Bits]
    """What its outputs are compared with, as far as they are there."""
    first: Mapping[str, Bits]
    """The values of named signals in the first cycle, one row of each: registers begin with theirs,
    all others with 0."""


@dataclass(frozen=True)
class Simulated:
    """What a simulation showed of a window."""

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


def simulate(netlist: GateNetlist, windows: Sequence[Stimulus]) -> list[Simulated]:
    """Simulate `netlist` in each of `windows`, of which there are at most `MOST_WINDOWS`.

    All have as many cycles.  Raises `EnvironmentProblem` where there is no C++ compiler.
    """
    outputs = [port for port in netlist.seen if any(port.name in each.seen for each in windows)]
    course = _run(netlist, windows, _nets(outputs))
    cycles = len(course.seen)
    wrong = course.seen ^ _joined(outputs, [window.seen for window in windows], cycles)
    found = []
    for number, window in enumerate(windows):
        place = np.uint64(number)
        differs = (wrong >> place & np.uint64(1)).astype(bool)
        found.append(
            Simulated(
                course.pj[_WARM_UP:, number],
                course.edges[_WARM_UP:, number],
                (course.clocked[_WARM_UP:] >> place & np.uint64(1)).astype(bool),
                _shares(outputs, window.seen, differs),
            )
        )
    return found


def observed(netlist: GateNetlist, window: Stimulus, nets: NDArray[np.int32]) -> Bits:
    """The values of `nets` at the end of each cycle of a window.

    Raises what `simulate` raises.
    """
    return (_run(netlist, [window], nets).seen & np.uint64(1)).astype(np.uint8)


@dataclass(frozen=True)
class _Ran:
    """What a simulation leaves, cycle by cycle, a bit of a word or a column for each window."""

    seen: _Words
    clocked: _Words
    pj: NDArray[np.float64]
    edges: NDArray[np.int64]


def _run(netlist: GateNetlist, windows: Sequence[Stimulus], seen: NDArray[np.int32]) -> _Ran:
    assert 0 < len(windows) <= MOST_WINDOWS, "windows are bits of a word"
    cycles = max(len(bits) for window in windows for bits in window.driven.values())
    values = np.zeros(netlist.nets, np.uint64)
    values[1] = ~np.uint64(0)
    _begin(netlist, values, windows)
    driven = _joined(netlist.driven, [window.driven for window in windows], cycles)
    ran = _Ran(
        np.zeros((cycles, len(seen)), np.uint64),
        np.zeros(cycles, np.uint64),
        np.zeros((cycles, len(windows))),
        np.zeros((cycles, len(windows)), np.int64),
    )
    course = _filled(
        _Course,
        cycles=cycles,
        windows=len(windows),
        driven=driven.shape[1],
        seen=len(seen),
        driven_nets=_nets(netlist.driven),
        seen_nets=np.ascontiguousarray(seen),
        driven_values=driven,
        values=values,
        seen_values=ran.seen,
        clocked=ran.clocked,
        pj=ran.pj,
        edges=ran.edges,
    )
    _library().simulate_gates(ctypes.byref(_gates(netlist)), ctypes.byref(course))
    return ran


def _shares(outputs: Sequence[Port], seen: Mapping[str, Bits], differs: Any) -> dict[str, float]:
    """The share of cycles in which each output differs, of those that do and are in `seen`."""
    shares, at = {}, 0
    for port in outputs:
        own = differs[:, at : at + len(port.nets)]
        at += len(port.nets)
        if port.name in seen and own.any():
            shares[port.name] = float(own.any(axis=1).mean())
    return shares


def _begin(netlist: GateNetlist, values: _Words, windows: Sequence[Stimulus]) -> None:
    kept = np.zeros(netlist.nets, bool)
    kept[netlist.state] = True
    begun = np.zeros((len(windows), netlist.nets), np.uint8)
    for own, window in zip(begun, windows, strict=True):
        for signal in netlist.registers:
            if signal.name in window.first:
                bits = window.first[signal.name].reshape(-1)[: len(signal.nets)]
                nets = signal.nets[: len(bits)]
                own[nets[kept[nets]]] = bits[kept[nets]]
    for number, own in enumerate(begun):
        values[kept] |= own[kept].astype(np.uint64) << np.uint64(number)


def _joined(ports: Sequence[Port], windows: Sequence[Mapping[str, Bits]], cycles: int) -> _Words:
    """What is at `ports` in all windows: cycles x nets; 0 where nothing is known."""
    joined = np.zeros((cycles, sum(len(port.nets) for port in ports)), np.uint64)
    at = 0
    for port in ports:
        own = joined[:, at : at + len(port.nets)]
        at += len(port.nets)
        for number, window in enumerate(windows):
            if port.name in window:
                own |= window[port.name].astype(np.uint64) << np.uint64(number)
    return joined


def _nets(ports: Iterable[Port]) -> NDArray[np.int32]:
    return np.concatenate([np.zeros(0, np.int32), *(port.nets for port in ports)], dtype=np.int32)


class _Gates(ctypes.Structure):
    """``Gates`` of the C++ source, field by field."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("nets", "gates", "registers")),
        *((name, ctypes.c_void_p) for name in ("inputs", "outputs", "tables", "arity")),
        *((name, ctypes.c_void_p) for name in ("data", "state", "rise_pj", "fall_pj")),
    )


class _Course(ctypes.Structure):
    """``Course`` of the C++ source, field by field."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("cycles", "windows", "driven", "seen")),
        *((name, ctypes.c_void_p) for name in ("driven_nets", "seen_nets", "driven_values")),
        *((name, ctypes.c_void_p) for name in ("values", "seen_values", "clocked", "pj", "edges")),
    )


def _filled(structure: Any, **values: Any) -> Any:
    """A structure with numbers, and addresses of arrays, which it keeps."""
    arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray)}
    filled = structure(**values | {name: array.ctypes.data for name, array in arrays.items()})
    filled.kept = arrays
    return filled


def _gates(netlist: GateNetlist) -> Any:
    levels = netlist.levels
    inputs = np.zeros((netlist.gates, MOST_INPUTS), np.int32)
    arity = np.zeros(netlist.gates, np.uint8)
    first = 0
    for level in levels:
        own = slice(first, first + len(level.outputs))
        first = own.stop
        inputs[own, : len(level.inputs)] = np.stack(level.inputs, axis=1)
        arity[own] = len(level.inputs)
    return _filled(
        _Gates,
        nets=netlist.nets,
        gates=netlist.gates,
        registers=netlist.flip_flops,
        inputs=inputs,
        outputs=_whole([level.outputs for level in levels], np.int32),
        tables=_whole([level.tables for level in levels], np.uint16),
        arity=arity,
        data=np.ascontiguousarray(netlist.data),
        state=np.ascontiguousarray(netlist.state),
        rise_pj=netlist.rise_pj,
        fall_pj=netlist.fall_pj,
    )


def _whole(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.zeros(0, kind), *parts], dtype=kind)


@cache
def _library() -> Any:
    compiler, source = find_compiler(), _SOURCE.read_text()

    def make(work: Path) -> Path:
        made = work / "gates.so"
        words = ["-std=c++17", "-O2", "-shared", "-fPIC", str(_SOURCE), "-o", str(made)]
        run_tools([[*compiler.command, *words]], work)
        return made

    library = ctypes.CDLL(str(cached(f"gates-{digest([source, compiler.identity])}.so", make)))
    library.simulate_gates.argtypes = [ctypes.POINTER(_Gates), ctypes.POINTER(_Course)]
    library.simulate_gates.restype = None
    return library
