"""Edits of a graph of integers: operators that go, those that come, and where tensors move."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from celosia.lab.substitute.integers.views import with_views
from celosia.sw.ir.graph import Graph, Op, Tensor, View
from celosia.sw.ir.graph_interpret import Array
from celosia.sw.ir.graph_verify import verify
from celosia.sw.ir.graphs.alike import anonymous

__all__ = ["Edit", "Moved", "edited", "likeness", "ordered", "rebuild"]

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Moved:
    """Where the elements of a tensor are now."""

    tensor: str
    rows: Numbers
    """The row that each of its rows is now; any number for one that nobody reads any more."""
    cols: Numbers
    """The column that each of its columns is now; negative: it is elsewhere."""

    @staticmethod
    def by(tensor: str, shape: tuple[int, int], row: int = 0, col: int = 0) -> "Moved":
        """All of it, to this row and column of another tensor."""
        return Moved(tensor, row + np.arange(shape[0]), col + np.arange(shape[1]))

    @staticmethod
    def part(tensor: str, shape: tuple[int, int], first: int, cols: int) -> "Moved":
        """Some of its columns, to be all of another tensor."""
        places = np.arange(shape[1]) - first
        return Moved(tensor, np.arange(shape[0]), np.where(places < cols, places, -1))

    def view(self, view: View) -> View:
        """Where a view of the tensor is now."""
        row, col = int(self.rows[view.row]), int(self.cols[view.col])
        return View(self.tensor, row, col, view.rows, view.cols)


@dataclass(frozen=True, eq=False, kw_only=True)
class Edit:
    """Operators in the place of others, which leave the same elements behind."""

    what: str
    removed: tuple[Op, ...]
    """What goes, in the graph's order."""
    added: tuple[Op, ...]
    """What comes."""
    tensors: tuple[Tensor, ...] = ()
    """New tensors, also of new constants."""
    constants: Mapping[str, Array] = field(default_factory=dict)
    moved: Mapping[str, tuple[Moved, ...]] = field(default_factory=dict)
    """Where results of `removed` are now, if anywhere else: the parts of each tensor."""

    @property
    def root(self) -> str:
        """The first operator that goes."""
        return self.removed[0].name

    def view(self, view: View) -> View:
        """Where a view is now."""
        for part in self.moved.get(view.tensor, ()):
            if part.cols[view.col] >= 0:
                return part.view(view)
        return view


def rebuild(graph: Graph, edits: Mapping[str, Edit]) -> Graph:
    """The graph behind edits, one after the other.

    An edit of operators that another one has changed is left out; it is found again.
    """
    for edit in edits.values():
        if all(op in graph.ops for op in edit.removed):
            graph = edited(graph, edit)
    return verify(graph)


def edited(graph: Graph, edit: Edit) -> Graph:
    """The graph behind one edit, not verified.

    What keeps its name keeps its place: a head's two products stay behind each other.
    """
    gone = {op.name for op in edit.removed}
    changed = {op.name: op for op in edit.added if op.name in gone}
    ops: list[Op] = []
    for op in graph.ops:
        if op.name not in gone:
            ops.append(with_views(op, edit.view))
        if op.name == edit.root:
            ops += [new for new in edit.added if new.name not in gone]
        if op.name in changed:
            ops.append(changed[op.name])
    constants = {**graph.constants, **edit.constants}
    tensors = {**graph.tensors, **{tensor.name: tensor for tensor in edit.tensors}}
    used = {view.tensor for op in ops for view in (*op.operands, *op.results)}
    used |= {*graph.inputs, *graph.outputs}
    return replace(
        graph,
        ops=ordered(ops),
        tensors={name: tensor for name, tensor in tensors.items() if name in used},
        constants={name: value for name, value in constants.items() if name in used},
    )


def ordered(ops: list[Op]) -> tuple[Op, ...]:
    """The operators, each behind those whose results it reads, else in the order given."""
    written: dict[str, list[tuple[View, int]]] = {}
    for index, op in enumerate(ops):
        for view in op.results:
            written.setdefault(view.tensor, []).append((view, index))
    needed = [
        {
            index
            for view in op.operands
            for other, index in written.get(view.tensor, ())
            if view.meets(other) and ops[index] is not op
        }
        for op in ops
    ]
    found: list[int] = []
    done: set[int] = set()

    def take(index: int) -> None:
        if index not in done:
            done.add(index)
            for before in sorted(needed[index]):
                take(before)
            found.append(index)

    for index in range(len(ops)):
        take(index)
    return tuple(ops[index] for index in found)


def likeness(graph: Graph, edit: Edit) -> Hashable:
    """An edit without names and numbers: parts that are alike in two layers have one likeness.

    Weights and scales count by their types: an edit is right whatever they are, or a rule has
    looked at them.
    """
    known = {**graph.tensors, **{tensor.name: tensor for tensor in edit.tensors}}
    return edit.what, anonymous(known, edit.removed, edit.added)
