"""What tells one state of this code from another."""

from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Final

from celosia.sim.support.cache import digest

__all__ = ["LAYERS", "source_version"]

LAYERS: Final = ("isa", "hw", "sw", "sim")
"""The packages of this code, from below."""
_SUFFIXES: Final = {".py", ".h", ".cpp"}


@cache
def source_version(layers: tuple[str, ...] = LAYERS) -> str:
    """A digest of all sources of `layers`: equal where, and only where, these are equal."""
    parts: list[str | bytes] = []
    for layer in layers:
        root = Path(next(iter(import_module(f"celosia.{layer}").__path__)))
        for path in sorted(root.rglob("*")):
            if path.suffix in _SUFFIXES:
                parts += [f"{layer}/{path.relative_to(root).as_posix()}", path.read_bytes()]
    return digest(parts)
