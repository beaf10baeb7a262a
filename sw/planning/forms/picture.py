"""Plans as pictures: where the rings are in each local memory, and the stages in order."""

from collections.abc import Mapping
from typing import Final

from celosia.isa.documents.svg import CHARACTER, LINE, Drawing
from celosia.sw.planning.forms.plan import Plan, RingPlan

__all__ = ["plan_drawing"]

_WIDTH: Final = 560
"""Width of a whole memory, in pixels."""
_MARGIN: Final = 8
_EDGED: Final = 4
"""Pixels of a span that an edge leaves something of."""
_OPERATORS: Final = 4
"""Operators of a stage that its line names."""
_COLORS: Final = {
    "scratchpad": "#56b4e9",
    "accumulator": "#e69f00",
    "parameters": "#009e73",
    "statistics": "#cc79a7",
}


def plan_drawing(plan: Plan) -> Drawing:
    """A line for each ring, with the rows that it has of its memory, and one for each stage."""
    title = f"plan of {plan.graph}, array {plan.machine.dim}, scheduler {plan.scheduler}"
    drawing = Drawing()
    drawing.text(_MARGIN, LINE, title, bold=True)
    y = 2.0 * LINE
    for space, total in plan.machine.rows.items():
        inside = {name: ring for name, ring in plan.rings.items() if ring.space == space}
        if inside and total:
            y = _memory(drawing, inside, space, total, y)
    drawing.text(_MARGIN, y + LINE, "stages", bold=True)
    for number, stage in enumerate(plan.stages, 1):
        y += LINE
        names = ", ".join(stage.ops[:_OPERATORS])
        more = f" and {len(stage.ops) - _OPERATORS} more" * (len(stage.ops) > _OPERATORS)
        drawing.text(_MARGIN, y + LINE, f"{number}. {stage.kind}: {names}{more}")
    return drawing


def _memory(
    drawing: Drawing, rings: Mapping[str, RingPlan], space: str, total: int, y: float
) -> float:
    """Draw the rings of a memory below `y`; returns the place below them."""
    label = max(map(len, rings)) * CHARACTER + 2 * _MARGIN
    drawing.text(_MARGIN, y + LINE, f"{space}: {total:,} rows", bold=True)
    y += LINE + 6
    for name, ring in rings.items():
        drawing.text(_MARGIN, y + LINE - 2, name)
        drawing.box(label, y + 2, _WIDTH, LINE - 2, fill="#f2f2f2", edge="#d9d9d9")
        for first, rows in ring.spans:
            title = f"{name}: rows {first:,} to {first + rows - 1:,}"
            left, width = label + first / total * _WIDTH, max(1.0, rows / total * _WIDTH)
            color = _COLORS[space]
            edge = "#ffffff" if width >= _EDGED else color
            drawing.box(left, y + 2, width, LINE - 2, fill=color, edge=edge, title=title)
        said = ", ".join(f"{first:,}..{first + rows - 1:,}" for first, rows in ring.spans)
        drawing.text(label + _WIDTH + _MARGIN, y + LINE - 2, said)
        y += LINE + 2
    return y + 6
