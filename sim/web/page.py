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
from celosia.sim.web.recorded import MEMORY_BYTES, Recording, WrongResultError, record
from celosia.sim.web.text.document import TextPart, text_part
from celosia.sim.web.text.source import shipped_source
from celosia.sim.web.watchable import WATCHED_PRESET
from celosia.sw.decoding.comparison import DifferenceError

__all__ = ["build_page", "page_text"]

_ASSETS: Final = Path(__file__).parent / "assets"
_SCRIPTS: Final = Path(modules.__file__).parent
_STYLE: Final = Path(reports.__file__).parent / "assets/page.css"
"""The style of a report's page: this one looks like it."""
_LATENCIES: Final = (1, 10, 40, 100, 400)
_RATES: Final = (1, 2, 4, 8, 16)
_BUDGET: Final = 5_000_000
_ARRAY: Final = tuple(f"array/{name}.js" for name in ("blocks", "array", "challenges"))
_TEXT: Final = tuple(
    f"text/{name}.js" for name in ("tokens", "sampler", "drafts", "generation", "writer", "job")
)
"""The scripts that go on with a text, in the worker."""
_WRITER: Final = MACHINES[-1]
"""What goes on with texts."""
_TEXT_SHARE: Final = 0.4
"""How much of the work the text is, about."""


def build_page(progress: Progress = silent, *, text: bool = True) -> str:
    """The page, of the RTL and the compiler as they are, with a language model if it has `text`.

    Raises `EnvironmentProblem` where a tool is missing, and `WrongResultError`.
    """
    before = 1 - _TEXT_SHARE if text else 1
    compiled, recorded = _programs(share(progress, 0, before))
    progress("running the challenges", before)
    watched = resolve_config(WATCHED_PRESET)
    posed = {name: pose(challenge, watched) for name, challenge in CHALLENGES.items()}
    if not text:
        return page_text(compiled, recorded, posed)
    tell = share(progress, before, 1)
    try:
        part = text_part(shipped_source(tell), _WRITER.config, MemoryTiming(), progress=tell)
    except DifferenceError as error:
        raise WrongResultError(f"language model: {error}") from None
    return page_text(compiled, recorded, posed, text=part)


def _programs(
    progress: Progress,
) -> tuple[dict[str, bytes], dict[str, dict[str, Recording]]]:
    """The module of each preset, and what its programs have done, by name."""
    parts = len(MACHINES) * (len(PROGRAMS) + 1)
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
    return compiled, recorded


def page_text(
    compiled: Mapping[str, bytes],
    recorded: Mapping[str, Mapping[str, Recording]],
    posed: Mapping[str, Posed] = MappingProxyType({}),
    *,
    text: TextPart | None = None,
) -> str:
    """The page with these modules and recordings, by preset, and programs by name.

    `posed` has the challenges, by name.  With a `text`, it goes on with texts, on a preset that is
    among these.
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
        "text": None if text is None else {**text.document, "preset": _WRITER.preset},
        "assembly": assembly_tables(),
        "array": array_document(recorded.get(WATCHED_PRESET, {}), posed),
        "timing": {"latency": timing.latency, "bytesPerCycle": timing.bytes_per_cycle},
        "latencies": _LATENCIES,
        "rates": _RATES,
        "budget": _BUDGET,
    }
    worker = [*(_SCRIPTS / name for name in SOURCES), *_assets(*_TEXT, "worker.js")]
    styles = [_STYLE, *_assets("page.css", "array/array.css", "text/text.css")]
    links = ["array", "programs", "assembly", *(["text"] if text else [])]
    return Template((_ASSETS / "page.html").read_text()).substitute(
        style="".join(path.read_text() for path in styles),
        links=" ".join(f'<a href="#{each}">{each.capitalize()}</a>' for each in links),
        array=(_ASSETS / "array/array.html").read_text(),
        text="" if text is None else _section(text),
        textdata=""
        if text is None
        else f'<script type="text/plain" id="text-data">{_text(text.data)}</script>',
        modules="\n".join(
            f'<script type="text/plain" id="module-{preset}">{_text(module)}</script>'
            for preset, module in compiled.items()
        ),
        data=json.dumps(data, allow_nan=False).replace("<", "\\u003c"),
        example=escape(example_text()),
        worker=_script(worker),
        script=_script(_assets("assembler.js", "page.js", *_ARRAY, "text/text.js")),
    )


def _assets(*names: str) -> list[Path]:
    return [_ASSETS / name for name in names]


def _section(text: TextPart) -> str:
    """What the page shows of texts."""
    return Template((_ASSETS / "text/text.html").read_text()).substitute(
        parameters=f"{text.parameters:,}", preset=escape(_WRITER.title)
    )


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
