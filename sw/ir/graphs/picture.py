"""Graphs as pictures: operators from above, each below all that it reads."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import Final

from celosia.isa.documents.svg import CHARACTER, LINE, Drawing
from celosia.sw.ir.graphs.operator import Operator
from celosia.sw.ir.graphs.tensors import Tensor

__all__ = ["graph_drawing"]

_GAP: Final = 16
_ROW: Final = 3 * LINE + 44
"""From one row of boxes to the next, in pixels."""
_NAME: Final = 28
"""Characters of a name in a box; a pointer over it shows all of them."""
_MARGIN: Final = 8
_COLORS: Final = ("#cfe5f3", "#f3ddea", "#d3ede3", "#fbeccb", "#e5def5", "#f7d9cf")
"""Colors of kinds of operators, in the order in which a graph has them."""
_INPUT: Final = "#f2f2f2"


def graph_drawing(
    name: str,
    tensors: Mapping[str, Tensor],
    inputs: Sequence[str],
    ops: Sequence[Operator],
) -> Drawing:
    """The operators of a graph, with arrows from who writes a tensor to who reads it.

    Inputs are boxes, too; of constants a box's operator only says the shape, where a pointer is.
    """
    given = [tensors[each] for each in inputs]
    boxes = [*map(_tensor_lines, given), *map(_operator_lines, ops)]
    arrows = list(_arrows(given, ops))
    places = _places(boxes, arrows)
    colors = dict(zip(dict.fromkeys(map(type, ops)), cycle(_COLORS), strict=False))
    drawing = Drawing()
    drawing.text(_MARGIN, LINE, f"graph {name}", bold=True)
    for begin, end in arrows:
        x, y, width = places[begin]
        to_x, to_y, to_width = places[end]
        bottom = y + _height(boxes[begin])
        drawing.line([(x + width / 2, bottom), (to_x + to_width / 2, to_y)], arrow=True)
    for number, (text, (x, y, width)) in enumerate(zip(boxes, places, strict=True)):
        op = ops[number - len(given)] if number >= len(given) else None
        fill = _INPUT if op is None else colors[type(op)]
        title = text[0] if op is None else _title(tensors, op)
        drawing.box(x, y, width, _height(text), fill=fill, title=title)
        for line, shown in enumerate(text):
            middle, base = x + width / 2, y + (line + 1) * LINE - 2
            drawing.text(middle, base, _cut(shown), middle=True, bold=not line)
    return drawing


def _tensor_lines(tensor: Tensor) -> tuple[str, ...]:
    return tensor.name, f"{tensor.type} {tensor.rows}x{tensor.cols}"


def _operator_lines(op: Operator) -> tuple[str, ...]:
    """What a box says: the name, what is computed, and the shape of the result."""
    finish = getattr(op, "finish", None)
    kind = type(op).__name__ + ("" if finish is None else f", {type(finish).__name__}")
    return op.name, kind, " ".join(f"{view.rows}x{view.cols}" for view in op.results[:2])


def _title(tensors: Mapping[str, Tensor], op: Operator) -> str:
    parts = [f"{view} ({tensors[view.tensor].type})" for view in op.operands]
    return f"{op.name}: reads {', '.join(parts)}; writes {', '.join(map(str, op.results))}"


def _cut(text: str) -> str:
    return text if len(text) <= _NAME else f"{text[: _NAME // 2 - 1]}...{text[2 - _NAME // 2 :]}"


def _height(lines: tuple[str, ...]) -> float:
    return len(lines) * LINE + 4


def _arrows(given: Sequence[Tensor], ops: Sequence[Operator]) -> Iterator[tuple[int, int]]:
    """The boxes between which there is an arrow, each pair once."""
    written = [(tensor.view(), number) for number, tensor in enumerate(given)]
    for number, op in enumerate(ops, len(given)):
        read = op.operands
        begins = (begin for view, begin in written if any(map(view.meets, read)))
        yield from ((begin, number) for begin in dict.fromkeys(begins))
        written += [(view, number) for view in op.results]


def _places(
    boxes: list[tuple[str, ...]], arrows: list[tuple[int, int]]
) -> list[tuple[float, float, float]]:
    """Left, top and width of each box: below all from which an arrow comes, rows centered."""
    level = [0] * len(boxes)
    for begin, end in arrows:  # In order of their ends, so that a begin has its level.
        level[end] = max(level[end], level[begin] + 1)
    widths = [max(len(_cut(line)) for line in text) * CHARACTER + 12 for text in boxes]
    rows = [[i for i, of in enumerate(level) if of == row] for row in range(max(level) + 1)]
    totals = [sum(widths[i] + _GAP for i in row) - _GAP for row in rows]
    places = [(0.0, 0.0, 0.0)] * len(boxes)
    for number, row in enumerate(rows):
        x = _MARGIN + (max(totals) - totals[number]) / 2
        for i in row:
            places[i] = x, LINE * 2 + number * _ROW, widths[i]
            x += widths[i] + _GAP
    return places
