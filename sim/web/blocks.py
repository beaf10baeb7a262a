"""The blocks beside the array: those of the README's figure, and what tells that one works."""

import ast
from collections.abc import Mapping
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from typing import Any, Final

from celosia.sim.reporting.data_path import BLOCKS

__all__ = ["UNITS", "block_tables"]

UNITS: Final[Mapping[str, str]] = {
    "array": "array",
    "execute": "array",
    "load": "read",
    "reads": "read",
    "store": "write",
    "writes": "write",
    "transform": "vector",
    "lanes": "vector",
}
"""The unit, of `RESOURCES`, whose owner is the block's."""

_COMMANDS: Final = {"loops": "accepted", "decoder": "command"}
"""What a block takes commands by: a word of `watched_words`, or an event."""


def block_tables() -> list[dict[str, Any]]:
    """The blocks as a JSON document, in the order of the figure's rows."""
    order = sorted(BLOCKS, key=lambda name: (BLOCKS[name].row, BLOCKS[name].column))
    return [
        {
            "name": name,
            "column": BLOCKS[name].column,
            "row": BLOCKS[name].row,
            "title": BLOCKS[name].title,
            "says": BLOCKS[name].says,
            "file": BLOCKS[name].file,
            "doc": _first_words(BLOCKS[name].file),
            "unit": UNITS.get(name),
            "commands": _COMMANDS.get(name),
            "queues": name == "issue",
        }
        for name in order
    ]


def _first_words(file: str) -> str:
    """The first paragraph of what a file of the RTL says of itself."""
    (root,) = import_module("celosia.hw").__path__
    text = (Path(root).parent / file).read_text()
    said = cleandoc(ast.get_docstring(ast.parse(text)) or "")
    return " ".join(said.split("\n\n")[0].split())
