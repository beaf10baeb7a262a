"""Where scores wait in memory: tensors of a program's own, one for each group that spills some."""

from dataclasses import replace

from celosia.sw.ir.graph import Graph, Tensor, View
from celosia.sw.planning.forms.plan import Plan, head_groups
from celosia.sw.planning.forms.stages import HeadGroup

__all__ = ["spill_name", "spill_view", "with_spills"]


def spill_name(group: HeadGroup) -> str:
    """The tensor that the scores of a group wait in."""
    return f"{group.heads[0][0]}.spill"


def spill_view(group: HeadGroup, block: int, rows: int) -> View:
    """The rows of that tensor that the scores of a block have; blocks are counted from 0 on."""
    assert group.spill is not None
    place = block % group.spill.blocks * max(group.rows)
    return View(spill_name(group), place, 0, rows, sum(group.keys))


def with_spills(graph: Graph, plan: Plan) -> Graph:
    """`graph` with the tensors that the scores of a legal `plan` wait in."""
    tensors = dict(graph.tensors)
    for group in head_groups(plan):
        if group.spill is not None:
            name, rows = spill_name(group), group.spill.blocks * max(group.rows)
            tensors[name] = Tensor(name, "int16", rows, sum(group.keys), scratch=True)
    return replace(graph, tensors=tensors)
