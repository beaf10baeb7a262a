"""Goes on with texts on a module of WebAssembly under Node, with the scripts that a page has."""

import json
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.verilator.wasm import modules
from celosia.sim.verilator.wasm.machine import SOURCES
from celosia.sim.web.text.document import TextPart, text_part
from celosia.sim.web.text.source import TextSource, shipped_source
from celosia.sim.web.text.written import Asked
from tests.support.page_scripts import SCRIPTS
from tests.support.wasm_node import NODE

__all__ = ["BASE", "shipped", "shipped_part", "texts_on_node"]

BASE = PRESETS["base"]
_NAMES = ("tokens", "sampler", "drafts", "generation", "writer")


@cache
def shipped() -> TextSource:
    """The model of the page."""
    return shipped_source()


@cache
def shipped_part() -> TextPart:
    """What the page has of it."""
    return text_part(shipped(), BASE, MemoryTiming())


def texts_on_node(
    config: AcceleratorConfig, part: TextPart, asked: Sequence[Asked | dict[str, Any]], folder: Path
) -> list[dict[str, Any]]:
    """What becomes of these texts, on the usual memory; files are in `folder`."""
    usual = MemoryTiming()
    timing = {"latency": usual.latency, "bytesPerCycle": usual.bytes_per_cycle}
    jobs = [
        {"asked": each if isinstance(each, dict) else each.document(), "timing": timing}
        for each in asked
    ]
    (folder / "text.json").write_text(json.dumps(part.document))
    (folder / "data.bin").write_bytes(part.data)
    (folder / "jobs.json").write_text(json.dumps(jobs))
    places = [Path(modules.__file__).parent / name for name in SOURCES]
    places += [SCRIPTS / f"text/{name}.js" for name in _NAMES]
    places += [modules.wasm_module(config)]
    places += [folder / name for name in ("text.json", "data.bin", "jobs.json")]
    command = [str(NODE), str(Path(__file__).with_suffix(".js")), *map(str, places)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)
