"""Builds what C programs include and link: header, library, and the models that it loads."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config
from celosia.sim.c_host.constants import isa_header, presets_header
from celosia.sim.c_host.gemmini_headers import gemmini_headers
from celosia.sim.support.cache import cached, digest
from celosia.sim.support.problems import InputError, OutputError
from celosia.sim.support.progress import Progress, silent
from celosia.sim.verilator.build import model_library
from celosia.sim.verilator.build_options import BuildOptions, Wave
from celosia.sim.verilator.toolchain import find_compiler, run_tools
from celosia.sim.wave.model import wave_model

__all__ = ["build_c_host", "c_host_library", "choose_presets"]

_HERE = Path(__file__).parent
_SOURCES = _HERE / "library"
_VERILATOR = _HERE.parent / "verilator"
_INCLUDES = (_SOURCES, _VERILATOR / "harness", _VERILATOR / "memory")
_COMPILE = (
    *("-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra"),
    *(f"-I{path}" for path in _INCLUDES),
)
_HEADER = "celosia.h"
_LIBRARY = "libcelosia.so"


def choose_presets(names: str) -> dict[str, AcceleratorConfig]:
    """The presets, or files of configurations, of ``tiny,base,mine.toml``.

    Raises `InputError` or `ConfigError`.
    """
    found: dict[str, AcceleratorConfig] = {}
    for source in names.split(","):
        name = Path(source).stem
        if name in found:
            raise InputError(f"--presets: {name} is there twice")
        found[name] = resolve_config(source)
    return found


def build_c_host(
    out: Path,
    presets: Mapping[str, AcceleratorConfig],
    *,
    wave: bool = False,
    progress: Progress = silent,
) -> list[Path]:
    """Write `include` and `lib` into the directory `out`; returns the files, in order.

    The first of `presets` is the library's default.  `wave`: also models that write waveforms.
    Nothing is written before all is built.  Raises `EnvironmentProblem` for a tool that is missing,
    `OutputError` where nothing can be written.
    """
    made = {Path("include", _HEADER): _SOURCES / _HEADER}
    made[Path("lib", _LIBRARY)] = c_host_library(presets, progress)
    for name, config in presets.items():
        progress(f"preset {name}: the model", None)
        made[Path("lib", "celosia", f"{name}.so")] = model_library(config, BuildOptions(), progress)
        if wave:
            traced = wave_model(config, Wave.VCD, progress).library
            made[Path("lib", "celosia", f"{name}.wave.so")] = traced
    texts = {
        Path("include", "gemmini", name, path): text
        for name, config in presets.items()
        for path, text in gemmini_headers(config).items()
    }
    try:
        for path, source in made.items():
            _replace(out / path, source.read_bytes())
        for path, text in texts.items():
            _replace(out / path, text.encode())
    except OSError as error:
        raise OutputError(f"{error.filename or out}: {error.strerror}") from error
    return [out / path for path in (*made, *texts)]


def c_host_library(presets: Mapping[str, AcceleratorConfig], progress: Progress = silent) -> Path:
    """`libcelosia.so` for these presets, without any model."""
    compiler = find_compiler()
    headers = {"isa.h": isa_header(), "presets.h": presets_header(presets)}

    def make(work: Path) -> Path:
        progress("compiling the library", None)
        for name, text in headers.items():
            (work / name).write_text(text)
        command = [*compiler.command, *_COMPILE, "-I."]
        sources = sorted(_SOURCES.glob("*.cpp"))
        run_tools([[*command, "-c", str(path), "-o", f"{path.stem}.o"] for path in sources], work)
        objects = [f"{path.stem}.o" for path in sources]
        link = ["-shared", f"-Wl,-soname,{_LIBRARY}", *objects, "-ldl", "-o", _LIBRARY]
        run_tools([[*compiler.command, *link]], work)
        return work / _LIBRARY

    texts = [path.read_text() for where in _INCLUDES for path in sorted(where.glob("*.[ch]*"))]
    return cached(
        f"c_host/{digest([compiler.identity, *_COMPILE, *headers.values(), *texts])}.so", make
    )


def _replace(path: Path, data: bytes) -> None:
    """Write a file under its name in one step: a program may have the old one open."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
        file.write(data)
    shutil.move(file.name, path)
    path.chmod(0o755 if path.suffix == ".so" else 0o644)
