"""Which memories a design has, read off its Verilog."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = ["FoundMemory", "find_memories"]

_NAME = r"(\\\S+|[A-Za-z_][\w$]*)"
_MODULE = re.compile(rf"^module {_NAME} ?\((.*?)^endmodule$", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(rf"^  {_NAME} +{_NAME} +\($", re.MULTILINE)
_MEMORY = re.compile(rf"^  reg \[(\d+):0\] {_NAME} \[(\d+):0\];$", re.MULTILINE)


@dataclass(frozen=True)
class FoundMemory:
    """A memory at one place of the hierarchy."""

    path: str
    """Names of instances below the top, with dots."""
    module: str | None
    """The black box that it is an instance of; None: part of the Verilog."""
    rows: int = 0
    bits: int = 0
    """Its size, unless it is a black box."""


def find_memories(verilog: str, top: str, black_boxes: Sequence[str]) -> list[FoundMemory]:
    """All memories below the module `top`, in the order of the Verilog."""
    bodies = {_plain(match[1]): match[2] for match in _MODULE.finditer(verilog)}

    def walk(module: str, prefix: str) -> Iterator[FoundMemory]:
        for match in _MEMORY.finditer(bodies[module]):
            rows, bits = int(match[3]) + 1, int(match[1]) + 1
            yield FoundMemory(prefix + _plain(match[2]), None, rows, bits)
        for match in _INSTANCE.finditer(bodies[module]):
            kind, path = _plain(match[1]), prefix + _plain(match[2])
            if kind in black_boxes:
                yield FoundMemory(path, kind)
            else:
                yield from walk(kind, f"{path}.")

    return list(walk(top, ""))


def _plain(name: str) -> str:
    return name.removeprefix("\\")
