"""The Verilator model that writes waveforms: another library than the one that does not.

Its Verilog has every signal where the source has it; only what Yosys invented gets names that
Verilator does not trace.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from celosia.isa.config import AcceleratorConfig
from celosia.sim.support.cache import cached
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.build import MODEL_TOP, model_key, model_library
from celosia.sim.verilator.build_options import BuildOptions, Wave
from celosia.sim.verilator.verilog import to_verilog
from celosia.sim.wave.views import Hierarchy

__all__ = ["WaveModel", "hierarchy", "wave_model", "wave_verilog"]

_TEMPORARY: Final = re.compile(r"\\(\$|port\$)")
_MODULE: Final = re.compile(r"^module (\\\S+ |\w+).*?^endmodule$", re.MULTILINE | re.DOTALL)
_SIGNAL: Final = re.compile(
    r"^  (?:input|output|wire|reg) (?:signed )?(?:\[(\d+):0\] )?(\\\S+ |\w+)(?: = .*)?;$",
    re.MULTILINE,
)
_INSTANCE: Final = re.compile(r"^  (\\\S+ |\w+) ?(\\\S+ |\w+) ?\($", re.MULTILINE)


@dataclass(frozen=True)
class WaveModel:
    """A model, and what is in its waveforms."""

    library: Path
    hierarchy: Hierarchy


def wave_model(config: AcceleratorConfig, wave: Wave, progress: Progress = silent) -> WaveModel:
    """The model of `config` that writes `wave` files.

    Raises `EnvironmentProblem` when it is not in the cache and a tool to build it is missing.
    """
    options = BuildOptions(wave=wave)
    write = cache(wave_verilog)
    library = model_library(config, options, progress, write)

    def make(work: Path) -> Path:
        (work / "hierarchy").write_text(json.dumps(hierarchy(write(config))))
        return work / "hierarchy"

    path = cached(f"hierarchies/{model_key(config, options)}.json", make)
    return WaveModel(library, json.loads(path.read_text()))


def wave_verilog(config: AcceleratorConfig) -> str:
    """The accelerator with the scope of `celosia.sim.wave.top` in it."""
    # Not before it is needed: whoever finds a model in the cache does without the RTL.
    top = import_module("celosia.sim.wave.top").WaveTop(config)
    return _TEMPORARY.sub(r"\\_\1", to_verilog(top, MODEL_TOP, ports=top.ports))


def hierarchy(verilog: str) -> Hierarchy:
    """The scopes of `MODEL_TOP` in `verilog`, and the signals that are traced there."""
    modules = {match[1].strip(): match[0] for match in _MODULE.finditer(verilog)}
    found: dict[str, dict[str, int]] = {}

    def visit(module: str, scope: str) -> None:
        text = modules[module]
        found[scope] = {
            name: int(high or 0) + 1
            for high, signal in _SIGNAL.findall(text)
            if not (name := signal.strip().removeprefix("\\")).startswith("_")
        }
        for kind, instance in _INSTANCE.findall(text):
            visit(kind.strip(), f"{scope}.{instance.strip().removeprefix(chr(92))}")

    visit(MODEL_TOP, MODEL_TOP)
    return found
