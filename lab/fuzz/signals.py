"""What programs make signals do: states of state machines, and signals that are 0 and 1.

Waveforms tell: they have every signal under its name.  Half a second a program, so that it is done
for some programs of a campaign only.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.case import Case, draw_case
from celosia.sim.devices.rtl_device import Setup
from celosia.sim.support.progress import Progress
from celosia.sim.verilator.build import MODEL_TOP
from celosia.sim.wave.request import WaveRequest

__all__ = [
    "Machine",
    "SignalCoverage",
    "exemption",
    "machine_points",
    "machines",
    "measure_signals",
    "read_changes",
]

_MACHINE: Final = "fsm_state"
"""What Amaranth calls the state of a machine."""
_SHOWN: Final = frozenset({"wave"})
"""Scopes of the waveform alone."""


@dataclass
class SignalCoverage:
    """What was seen, and what there is to see."""

    programs: int = 0
    changes: dict[str, int] = field(default_factory=dict)
    """How often each signal of one bit has changed."""
    points: set[str] = field(default_factory=set)
    """``state MACHINE NAME`` and ``transition MACHINE NAME NAME``."""
    machines: set[str] = field(default_factory=set)
    """All such points."""


def measure_signals(
    seeds: Iterable[int], preset: str, overrides: tuple[str, ...], tell: Progress
) -> SignalCoverage:
    """What the cases of `seeds` make the RTL's signals do."""
    config = resolve_config(preset, overrides)
    known = machines(config)
    seen, seeds = SignalCoverage(machines=machine_points(known)), list(seeds)
    with tempfile.TemporaryDirectory(prefix="celosia-signals-") as place:
        path = Path(place) / "case.vcd"
        for number, seed in enumerate(seeds):
            _record(draw_case(seed, preset, overrides), config, path, tell)
            with path.open(encoding="ascii") as file:
                read_changes(file, known, seen)
            seen.programs += 1
            tell("looking at signals", (number + 1) / len(seeds))
    return seen


def _record(case: Case, config: AcceleratorConfig, path: Path, tell: Progress) -> None:
    program = case.recipe.program()
    setup = Setup(config, case.timing, program.memory_bytes, tell)
    # Not before it is needed: the RTL.
    device_of = import_module("celosia.sim.wave.verilated").VerilatorWaveDevice
    with closing(device_of(WaveRequest(path=path), setup)) as device:
        device.ring_entries = case.ring_entries
        for content in program.contents:
            device.write(content.region.address, content.bytes())
        device.run(program.commands, case.issue)


@dataclass(frozen=True)
class Machine:
    """A state machine of the design."""

    names: Mapping[int, str]
    """Names of the machine's states, by their values."""
    transitions: frozenset[tuple[int, int]]
    """Transitions of the machine, each from one state's value to another's."""


def machines(config: AcceleratorConfig) -> dict[str, Machine]:
    """The state machines, by scope."""
    # Not before it is needed: the RTL.
    top = import_module("celosia.sim.verilator.observed").ObservedTop(config)
    hdl = import_module("amaranth.hdl")
    found = {}
    for scope, fragment in _scopes(hdl.Fragment.get(top, None), MODEL_TOP):
        names, transitions = {}, set()
        for statements in fragment.statements.values():
            for before, after, signal in _next_states(hdl, statements, None):
                names[after] = signal.decoder(after).partition("/")[0]
                transitions.add((before, after))
        if names:
            found[scope] = Machine(names, frozenset(transitions))
    return found


def _scopes(fragment: Any, scope: str) -> Iterator[tuple[str, Any]]:
    yield scope, fragment
    for inner, name, *_ in fragment.subfragments:
        if name is not None and hasattr(inner, "statements"):
            yield from _scopes(inner, f"{scope}.{name}")


def _next_states(hdl: Any, statements: Any, state: int | None) -> Iterator[tuple[int, int, Any]]:
    """What a machine may become: the state before, the one after, and the signal."""
    for statement in statements:
        if hasattr(statement, "cases"):
            machine = getattr(statement.test, "name", "") == _MACHINE
            for patterns, body, *_ in statement.cases:
                inside = int(patterns[0], 2) if machine and patterns else state
                yield from _next_states(hdl, body, inside)
        elif state is not None and _sets_state(statement) and isinstance(statement.rhs, hdl.Const):
            yield state, statement.rhs.value, statement.lhs


def _sets_state(statement: Any) -> bool:
    return getattr(getattr(statement, "lhs", None), "name", "") == _MACHINE


def machine_points(known: Mapping[str, Machine]) -> set[str]:
    """All states and transitions."""
    points = set()
    for scope, machine in known.items():
        points |= {f"state {scope} {name}" for name in machine.names.values()}
        points |= {
            f"transition {scope} {machine.names[before]} {machine.names[after]}"
            for before, after in machine.transitions
        }
    return points


def read_changes(lines: Iterator[str], known: Mapping[str, Machine], seen: SignalCoverage) -> None:
    """Add to `seen` what a VCD file tells."""
    bits, states = _declared(lines)
    for name in bits.values():
        seen.changes.setdefault(name, 0)
    last: dict[str, str] = {}
    for line in lines:
        value, code = line[0], line[1:].rstrip()
        if value in "01" and code in bits:
            if last.get(code, value) != value:
                seen.changes[bits[code]] += 1
            last[code] = value
        elif value == "b":
            digits, _, code = code.partition(" ")
            if code in states and (machine := known.get(states[code])):
                _visit(machine, states[code], last.get(code), digits, seen)
                last[code] = digits


def _visit(
    machine: Machine, scope: str, before: str | None, now: str, seen: SignalCoverage
) -> None:
    name = machine.names[int(now, 2)]
    seen.points.add(f"state {scope} {name}")
    if before is not None and before != now:
        seen.points.add(f"transition {scope} {machine.names[int(before, 2)]} {name}")


def _declared(lines: Iterator[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Names of one-bit signals, and scopes of states, by their codes in the VCD."""
    scopes: list[str] = []
    bits, states = {}, {}
    for line in lines:
        words = line.split()
        if words[:1] == ["$enddefinitions"]:
            break
        if words[:1] == ["$scope"]:
            scopes.append(words[2])
        elif words[:1] == ["$upscope"]:
            scopes.pop()
        elif words[:1] == ["$var"] and not _SHOWN & {*scopes}:
            size, code, name = words[2:5]
            if size == "1":
                bits.setdefault(code, ".".join((*scopes, name)))
            elif name == _MACHINE:
                states[code] = ".".join(scopes)
    return bits, states


_ERRORS: Final = "errors: tests/system/test_recovery.py, test_hostile_bus.py, test_causes.py"
_FULL: Final = "room is reserved before, so that the buffer is never full: asserted in the RTL"
_NEVER: Final = "constant where the unit is used"
_EXEMPT: Final = {
    r"fault|error|fail|refused|stop|halt|dead|wrong|passed|budget_set": _ERRORS,
    r"\.bad$|kept_bad|reader\.(forbidden|error_beat(_due)?)$|writer\.found$|wrapped$": _ERRORS,
    r"decoder\.unit\.(meets|outside)": _ERRORS,
    r"ISSUE REST$": "only a loop that is not well formed: tests/system/test_loops.py",
    r"axi\.(rst|reset|clear|enable)$|clear_counters|interrupt": "tests/hw/host/test_axi_top.py",
    r"w_rdy$|beats\.i__ready$|endings\.fits$|unit\.fits$": _FULL,
    r"lock$|m_axi_bready|port__r__ready": _NEVER,
    r"scaler\.s._request\.raw|scaling\.relu$": _NEVER,
    r"_nan_": "no program has a scale that is no number: tests/hw/vector/test_scaler.py",
}
"""What random programs leave out, and why."""


def exemption(signal: str) -> str:
    """Why random programs need not change `signal`, or pass a point; empty if they do."""
    for pattern, reason in _EXEMPT.items():
        if re.search(pattern, signal):
            return reason
    return ""
