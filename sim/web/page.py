"""Puts the page together: everything it needs is in it, as text."""

import base64
import gzip
import json
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any, Final

from celosia.isa.encoding import pack_ring
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.profile.resources import RESOURCES, groups
from celosia.sim.reporting.page import page as reports
from celosia.sim.reporting.page.palette import group_color
from celosia.sim.support.progress import Progress, share, silent
from celosia.sim.verilator.wasm import modules
from celosia.sim.verilator.wasm.machine import SOURCES, machine
from celosia.sim.verilator.wasm.modules import wasm_module
from celosia.sim.web.array_view import array_document
from celosia.sim.web.assembly import assembly_tables, example_text
from celosia.sim.web.challenges import CHALLENGES, Posed, pose
from celosia.sim.web.programs import MACHINES, PROGRAMS, Machine
from celosia.sim.web.recorded import MEMORY_BYTES, Recording, record
from celosia.sim.web.watchable import WATCHED_PRESET

__all__ = ["build_page", "page_text"]

_ASSETS: Final = Path(__file__).parent / "assets"
_SCRIPTS: Final = Path(modules.__file__).parent
_STYLE: Final = Path(reports.__file__).parent / "assets/page.css"
"""The style of a report's page: this one looks like it."""
_LATENCIES: Final = (1, 10, 40, 100, 400)
_RATES: Final = (1, 2, 4, 8, 16)
_BUDGET: Final = 5_000_000
_ARRAY: Final = tuple(f"array/{name}.js" for name in ("blocks", "array", "challenges"))


def build_page(progress: Progress = silent) -> str:
    """The page, of the RTL and the compiler as they are.

    Raises `EnvironmentProblem` where a tool is missing, and `WrongResultError`.
    """
    parts = len(MACHINES) * (len(PROGRAMS) + 1) + 1
    compiled: dict[str, bytes] = {}
    recorded: dict[str, dict[str, Recording]] = {}
    for place, each in enumerate(MACHINES):
        begin = place * (len(PROGRAMS) + 1)
        config = each.config
        tell = _named(each, share(progress, begin / parts, (begin + 1) / parts))
        compiled[each.preset] = wasm_module(config, tell).read_bytes()
        recorded[each.preset] = {}
        for number, (name, choice) in enumerate(PROGRAMS.items(), begin + 1):
            progress(f"{each.preset}: running {choice.title}", number / parts)
            tell = _named(each, share(progress, number / parts, (number + 1) / parts))
            recorded[each.preset][name] = record(choice.make(), config, MemoryTiming(), tell)
    progress("running the challenges", (parts - 1) / parts)
    watched = resolve_config(WATCHED_PRESET)
    posed = {name: pose(challenge, watched) for name, challenge in CHALLENGES.items()}
    return page_text(compiled, recorded, posed)


def page_text(
    compiled: Mapping[str, bytes],
    recorded: Mapping[str, Mapping[str, Recording]],
    posed: Mapping[str, Posed] = MappingProxyType({}),
) -> str:
    """The page with these modules and recordings, by preset, and programs by name.

    `posed` has the challenges, by name.
    """
    timing = MemoryTiming()
    data = {
        "presets": {
            each.preset: {
                "title": each.title,
                "machine": machine(each.config, timing, MEMORY_BYTES),
                "programs": {
                    name: _program(found) for name, found in recorded[each.preset].items()
                },
            }
            for each in MACHINES
            if each.preset in compiled
        },
        "titles": {name: choice.title for name, choice in PROGRAMS.items()},
        "units": _units(),
        "assembly": assembly_tables(),
        "array": array_document(recorded.get(WATCHED_PRESET, {}), posed),
        "timing": {"latency": timing.latency, "bytesPerCycle": timing.bytes_per_cycle},
        "latencies": _LATENCIES,
        "rates": _RATES,
        "budget": _BUDGET,
    }
    worker = [*(_SCRIPTS / name for name in SOURCES), _ASSETS / "worker.js"]
    styles = [_STYLE, *_asset("page.css", "array/array.css")]
    return Template((_ASSETS / "page.html").read_text()).substitute(
        style="".join(path.read_text() for path in styles),
        array=(_ASSETS / "array/array.html").read_text(),
        modules="\n".join(
            f'<script type="text/plain" id="module-{preset}">{_text(module)}</script>'
            for preset, module in compiled.items()
        ),
        data=json.dumps(data, allow_nan=False).replace("<", "\\u003c"),
        example=escape(example_text()),
        worker=_script(worker),
        script=_script(_asset("assembler.js", "page.js", *_ARRAY)),
    )


def _asset(*names: str) -> list[Path]:
    return [_ASSETS / name for name in names]


def _named(each: Machine, tell: Progress) -> Progress:
    return lambda text, done: tell(f"{each.preset}: {text}", done)


def _script(paths: Sequence[Path]) -> str:
    """Scripts one behind the other, none of which ends the element that it is in."""
    return "\n".join(path.read_text() for path in paths).replace("</", "<\\/")


def _text(data: bytes) -> str:
    """What a page can hold: gzip, the same whenever it is made, in base64."""
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _program(found: Recording) -> dict[str, Any]:
    return {
        "memory": _text(found.memory),
        "commands": _text(pack_ring(found.commands)),
        "count": len(found.commands),
        "cycles": found.cycles,
        "digest": found.digest,
    }


def _units() -> list[dict[str, Any]]:
    """The units, and whose their cycles may be: in the words and colors of a report."""
    return [
        {
            "name": name,
            "unit": table.unit,
            "order": [owner.name for owner in table.owners],
            "groups": [
                {
                    "name": group,
                    "color": group_color(name, group),
                    "works": group in table.work,
                    "owners": {owner.name: owner.doc for owner in table.groups[group]},
                }
                for group in groups(name)
            ],
        }
        for name, table in RESOURCES.items()
    ]
