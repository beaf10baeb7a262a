"""Modules of a design as gates."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from celosia.sim.export.silicon.cells.energies import Energies
from celosia.sim.export.silicon.cells.library import CellLibrary
from celosia.sim.export.silicon.power.netlist import GateNetlist, Port, read_netlist
from celosia.sim.export.silicon.power.recording import Design
from celosia.sim.export.silicon.synthesis.modules import (
    PART,
    TOP,
    VerilogModule,
    flattened,
    own_name,
    split_modules,
)
from celosia.sim.export.silicon.synthesis.runs import READ_MODULE, ModuleScript, Unreadable
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.export.silicon.timing.scripts import netlist_script
from celosia.sim.support.progress import Progress

__all__ = ["map_gates", "map_whole"]

_SCRIPT: Final = "default"
_FLATTENED: Final = READ_MODULE.replace("synth ", "synth -flatten ")
_PRODUCT: Final = "netlist.json"


def map_gates(
    tools: tuple[Yosys, CellLibrary, Energies],
    design: Design,
    names: Iterable[str],
    at_once: int,
    tell: Progress,
) -> dict[str, GateNetlist]:
    """The gates of the modules `names`, as `celosia timing` maps them by its first script.

    Raises `EnvironmentProblem` for what Yosys or the library cannot do.
    """
    yosys, library, energies = tools
    modules = split_modules(design.verilog)
    chosen = list(names)
    others = [module.interface for name, module in modules.items() if name not in chosen]
    text = "".join(modules[name].text for name in chosen)
    _, kept = _script(yosys, library, at_once).run(text, "".join(others) + design.models, tell)
    gates = kept[_PRODUCT]
    return {name: _named(read_netlist(gates[name], energies), modules[name]) for name in chosen}


def map_whole(
    tools: tuple[Yosys, CellLibrary, Energies], design: Design, top: str, tell: Progress
) -> GateNetlist:
    """The gates of the module `top` and all below it, as one module: `map_gates`' script, flat.

    Raises what `map_gates` raises.
    """
    yosys, library, energies = tools
    script = _script(yosys, library, 1)
    script = replace(script, begin=script.begin.replace(READ_MODULE, _FLATTENED))
    text = flattened(top, split_modules(design.verilog), split_modules(design.models))
    return read_netlist(script.products({top: text}, tell)[_PRODUCT][top], energies)


def _script(yosys: Yosys, library: CellLibrary, at_once: int) -> ModuleScript:
    script = netlist_script(yosys, library, [_SCRIPT], at_once)
    (end,) = script.ends.values()
    *mapped, written = end.splitlines()
    assert written.startswith("write_verilog ")
    end = "\n".join([*mapped, f"write_json {_PRODUCT}\n"])
    return replace(script, ends={_PRODUCT: end}, condense=_condensed)


def _condensed(text: str) -> str:
    """What is read of Yosys' document."""
    try:
        modules = json.loads(text)["modules"]
        kept = {
            name: {"ports": module["ports"]}
            for name, module in modules.items()
            if name.startswith(PART)
        }
        kept[TOP] = {
            "ports": modules[TOP]["ports"],
            "cells": {
                name: {"type": cell["type"], "connections": cell["connections"]}
                for name, cell in modules[TOP]["cells"].items()
            },
            "netnames": {
                name: {"bits": net["bits"]}
                for name, net in modules[TOP]["netnames"].items()
                if not net["hide_name"]
            },
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise Unreadable(f"no cells in {text[:80]!r}: {error!r}") from None
    return json.dumps({"modules": kept}, separators=(",", ":"))


def _named(netlist: GateNetlist, module: VerilogModule) -> GateNetlist:
    """`netlist` with the names that the ports of `module` have in the design."""

    def own(ports: Sequence[Port]) -> list[Port]:
        found = []
        for port in ports:
            instance, dot, name = port.name.rpartition(".")
            found.append(Port(instance + dot + own_name(name, module), port.nets))
        return found

    return replace(netlist, driven=own(netlist.driven), seen=own(netlist.seen))
