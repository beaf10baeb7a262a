"""Device memory as a picture: which bytes each tensor has."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final

from celosia.isa.documents.svg import CHARACTER, LINE, Drawing
from celosia.sw.ir.graph import Graph, Tensor

__all__ = ["memory_drawing"]

_WIDTH: Final = 560
"""Width of all bytes, in pixels."""
_MARGIN: Final = 8
_TOP: Final = 3
"""Pixels above the bar of a line."""
_COLORS: Final = {
    "constant": "#009e73",
    "input": "#56b4e9",
    "cache": "#cc79a7",
    "output": "#e69f00",
    "between": "#999999",
}
"""What a tensor is in memory for; `between` operators if for none of the others."""


def memory_drawing(
    graph: Graph, addresses: Mapping[str, int], end: int, gone: Collection[str] = ()
) -> Drawing:
    """A line for each tensor of `addresses`, by address: name, bytes and place of these.

    `end` is the first address behind all tensors; those in `gone` have lost their bytes to others
    when the program ends.
    """
    drawing = Drawing()
    tensors = sorted((graph.tensors[name] for name in addresses), key=lambda t: addresses[t.name])
    if not tensors:
        return drawing
    base = addresses[tensors[0].name]
    total = end - base
    label = max(len(each.name) for each in tensors) * CHARACTER + 2 * _MARGIN
    title = f"main memory of {graph.name}: {base:#x}..{end - 1:#x}, {total:,} bytes"
    drawing.text(_MARGIN, LINE, title, bold=True)
    _legend(drawing, {_kind(graph, each) for each in tensors}, label)
    for number, tensor in enumerate(tensors, 2):
        y = number * (LINE + 2.0)
        first = addresses[tensor.name]
        said = f"{first:#x}..{first + tensor.bytes - 1:#x}  {tensor.bytes:,} bytes, "
        said += f"{tensor.type} {tensor.rows:,}x{tensor.cols:,}"
        said += ", overwritten" * (tensor.name in gone)
        color = _COLORS[_kind(graph, tensor)]
        left, width = (first - base) / total * _WIDTH, max(1.0, tensor.bytes / total * _WIDTH)
        drawing.text(_MARGIN, y + LINE - 2, tensor.name)
        drawing.box(label, y + _TOP, _WIDTH, LINE - 2, fill="#f2f2f2", edge="#d9d9d9")
        title = f"{tensor.name}: {said}"
        drawing.box(label + left, y + _TOP, width, LINE - 2, fill=color, edge=color, title=title)
        drawing.text(label + _WIDTH + _MARGIN, y + LINE - 2, said)
    return drawing


def _legend(drawing: Drawing, kinds: Iterable[str], left: float) -> None:
    """Draw the color of each kind that there is, in the line below the title."""
    for kind in (each for each in _COLORS if each in kinds):
        drawing.box(left, LINE + _TOP + 4, 10, 10, fill=_COLORS[kind], edge=_COLORS[kind])
        drawing.text(left + 15, 2 * LINE - 1, kind)
        left += len(kind) * CHARACTER + 15 + 2 * _MARGIN


def _kind(graph: Graph, tensor: Tensor) -> str:
    if tensor.name in graph.constants:
        return "constant"
    if tensor.cache:
        return "cache"
    if tensor.name in graph.inputs:
        return "input"
    return "output" if tensor.name in graph.outputs else "between"
