"""What tells one state of this code from another."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from celosia.sim.support.cache import digest

__all__ = ["source_version"]

_LAYERS: Final = ("isa", "hw", "sw", "sim")
_SUFFIXES: Final = {".py", ".h", ".cpp"}


@cache
def source_version() -> str:
    """A digest of all sources of this package: equal where, and only where, they are equal."""
    parts: list[str | bytes] = []
    for layer in _LAYERS:
        root = Path(next(iter(import_module(f"celosia.{layer}").__path__)))
        for path in sorted(root.rglob("*")):
            if path.suffix in _SUFFIXES:
                parts += [f"{layer}/{path.relative_to(root).as_posix()}", path.read_bytes()]
    return digest(parts)
