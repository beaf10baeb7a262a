"""Runs programs on a module of WebAssembly under Node, with the scripts that a page has."""

import base64
import importlib.util
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command, pack_ring
from celosia.isa.memory import MemoryTiming
from celosia.sim.verilator.doctor import absence
from celosia.sim.verilator.wasm import modules
from celosia.sim.verilator.wasm.machine import SOURCES, machine

__all__ = ["IN_A_BROWSER", "NODE", "job_of", "needs_node", "needs_zig", "on_node"]

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="Node is not installed")
needs_zig = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason="the extra page is not installed"
)
_MISSING = absence("chromium")
IN_A_BROWSER = [
    pytest.mark.nightly,
    needs_zig,
    pytest.mark.skipif(bool(_MISSING), reason=str(_MISSING)),
]
"""What a test of a page in a real browser is marked with."""


def job_of(
    memory: bytes,
    commands: Sequence[Command],
    timing: MemoryTiming = MemoryTiming(),  # noqa: B008 (a constant)
    *,
    budget: int = 10**6,
    repeat: int = 1,
    watch: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """A program for Node: its memory and its commands, and how often it runs.

    It is looked at cycle by cycle if `watch` says which cycles are kept.
    """
    return {
        "timing": {"latency": timing.latency, "bytesPerCycle": timing.bytes_per_cycle},
        "memory": base64.b64encode(memory).decode(),
        "commands": base64.b64encode(pack_ring(commands)).decode(),
        "budget": budget,
        "repeat": repeat,
        "watch": watch,
    }


def on_node(
    config: AcceleratorConfig, jobs: Sequence[dict[str, Any]], size: int, folder: Path
) -> list[dict[str, Any]]:
    """What becomes of these jobs, with a memory of so many bytes; files are in `folder`."""
    path = folder / "job.json"
    path.write_text(
        json.dumps({"machine": machine(config, MemoryTiming(), size), "programs": jobs})
    )
    scripts = [Path(modules.__file__).parent / name for name in SOURCES]
    host, module = Path(__file__).with_suffix(".js"), modules.wasm_module(config)
    command = [str(NODE), *map(str, (host, *scripts, module, path))]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout)
