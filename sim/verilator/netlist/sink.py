"""Moves combinational logic under the enable of the registers that use it.

Verilator computes every wire in every cycle.  A wire that only registers with one and the same
enable read may as well be computed when that enable is high: an idle pipeline stage then costs one
branch.  So the assignments of such wires, and the registers, become one clocked block::

    assign w = f(a);                                always @(posedge clk)
    always @(posedge clk) if (e) r <= g(w);   =>      if (e) begin w = f(a); r <= g(w); h <= w; end
    always @(posedge clk) if (e) h <= w;

The text must be what `celosia.sim.verilator.verilog` makes of Yosys' output: one statement per
line, one block per register.  What does not look like that stays as it is.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from graphlib import TopologicalSorter

from celosia.sim.verilator.netlist.text import NAME, USE, at_the_end, each_module

__all__ = ["sink_logic"]

_WIRE = re.compile(rf"  (?:wire|reg) ((?:signed )?(?:\[[^]]*\] )?)({NAME}) ?;\n")
_ASSIGN = re.compile(rf"  assign ({NAME}) ?= (.*);\n")
_COMPUTED = re.compile(
    r"  always @\* begin\n"
    r"    if \(\\\$auto\$verilog_backend\.cc:\d+:dump_module\$\d+ \) begin end\n"
    r"((?:    .*\n)*?)  end\n"
)
_ENABLED = re.compile(
    r"  always @\((posedge|negedge) (\S+?) ?\) begin\n"
    r"    if \((.*)\) begin\n((?:      .*\n)*?)    end\n"
    r"(?:    if \(rst\) begin\n((?:      .*\n)*?)    end\n)?  end\n"
)
_TARGET = re.compile(rf"^ *({NAME}) ?(?:\[[^]]*\] ?)?= ", re.MULTILINE)
_ROOT = "root"

_Span = tuple[int, int]


def sink_logic(verilog: str) -> str:
    """`verilog` with each module's logic moved as far as it goes."""
    return each_module(verilog, _sink_module)


@dataclass
class _Logic:
    """A piece of text that computes one wire."""

    span: _Span
    """Where it stands in the module."""
    statements: str
    """As it stands in a clocked block."""
    reads: set[str]


@dataclass
class _Stage:
    """The registers with one enable."""

    clock: str
    enable: str
    bodies: list[str] = field(default_factory=list)
    resets: list[str] = field(default_factory=list)
    spans: list[_Span] = field(default_factory=list)


def _sink_module(module: str) -> str:
    logic, stages = _logic(module), _stages(module)
    shapes = {match[2]: match for match in _WIRE.finditer(module)}
    owners = _owners(module, logic, stages)
    sunk: dict[str, list[str]] = defaultdict(list)
    moved: list[_Span] = []
    blocks: list[str] = []
    graph = {name: unit.reads & logic.keys() for name, unit in logic.items()}
    for name in TopologicalSorter(graph).static_order():
        if owners[name] != _ROOT and name in shapes:
            sunk[owners[name]].append(name)
    for key, names in sunk.items():
        moved += [*(logic[name].span for name in names), *stages[key].spans]
        moved += [shapes[name].span() for name in names]
        declared = [f"      reg {shapes[name][1]}{name};\n" for name in names]
        statements = [logic[name].statements for name in names]
        blocks.append(
            f"  always @(posedge {stages[key].clock}) begin\n"
            f"    if ({stages[key].enable}) begin : stage_{len(blocks)}\n"
            + "".join([*declared, *statements, *stages[key].bodies])
            + "    end\n"
            + f"    if (rst) begin\n{''.join(stages[key].resets)}    end\n"
            * any(stages[key].resets)
            + "  end\n"
        )
    return at_the_end(_without(module, moved), "".join(blocks))


def _without(module: str, spans: Iterable[_Span]) -> str:
    """`module` without these parts, which do not overlap; one pass, however many they are."""
    kept: list[str] = []
    position = 0
    for start, end in sorted(spans):
        kept.append(module[position:start])
        position = end
    return "".join([*kept, module[position:]])


def _uses(text: str) -> set[str]:
    return set(USE.findall(text))


def _logic(module: str) -> dict[str, _Logic]:
    """What computes each wire, by its name, if it is one assignment or one block."""
    units: dict[str, list[_Logic]] = defaultdict(list)
    for match in _ASSIGN.finditer(module):
        statement = f"      {match[1]} = {match[2]};\n"
        units[match[1]].append(_Logic(match.span(), statement, _uses(match[2])))
    for match in _COMPUTED.finditer(module):
        targets = set(_TARGET.findall(match[1]))
        if len(targets) == 1:
            (target,) = targets
            units[target].append(_Logic(match.span(), match[1], _uses(match[1]) - targets))
    return {name: found[0] for name, found in units.items() if len(found) == 1}


def _stages(module: str) -> dict[str, _Stage]:
    stages: dict[str, _Stage] = {}
    for match in _ENABLED.finditer(module):
        edge, clock, enable, body, reset = match.groups()
        if edge == "posedge":
            stage = stages.setdefault(f"{clock} {enable}", _Stage(clock, enable))
            stage.bodies.append(body)
            stage.resets.append(reset or "")
            stage.spans.append(match.span())
    return stages


def _owners(module: str, logic: dict[str, _Logic], stages: dict[str, _Stage]) -> dict[str, str]:
    """The stage that alone needs each wire, or `_ROOT`."""
    needed: dict[str, set[str]] = defaultdict(set)
    for key, stage in stages.items():
        for body in stage.bodies:
            for name in _uses(body):
                needed[name].add(key)
        for name in _uses(stage.enable):
            needed[name].add(_ROOT)
    known = [unit.span for unit in logic.values()]
    known += [span for stage in stages.values() for span in stage.spans]
    for name in _uses(_WIRE.sub("", _without(module, known))):
        needed[name].add(_ROOT)

    owners: dict[str, str] = {}
    graph = {name: unit.reads & logic.keys() for name, unit in logic.items()}
    for name in reversed([*TopologicalSorter(graph).static_order()]):
        owner = needed[name].pop() if len(needed[name]) == 1 else _ROOT
        owners[name] = owner
        for source in logic[name].reads:
            needed[source].add(owner)
    return owners
