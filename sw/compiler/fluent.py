"""Schedules from Python: each method returns another schedule, whose plan is legal.

A plan of one product, by hand::

    best = (
        Schedule(plain_plan(graph, config), graph, config)
        .tensorize("product", times=4)
        .double_buffer("product", "b")
        .keep("product", "a")
    )
    compiled = compile_graph(graph, config, Decide(best.plan))
"""

from dataclasses import dataclass, replace
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.schedules.apply import apply_steps
from celosia.sw.planning.schedules.primitives import (
    Defer,
    DoubleBuffer,
    Fuse,
    Keep,
    Place,
    Primitive,
    Reorder,
    Split,
    Tensorize,
    Tile,
)

__all__ = ["Schedule"]


@dataclass(frozen=True)
class Schedule:
    """A legal plan of `graph` for `config`, and the primitives that led to it.

    Every method raises `PlanError`, a `ValueError`, that names the rule that the result breaks.
    """

    plan: Plan
    graph: Graph
    config: AcceleratorConfig
    steps: tuple[Primitive, ...] = ()

    def then(self, step: Primitive) -> "Schedule":
        """The schedule with one more primitive."""
        plan = apply_steps(self.plan, [step], self.graph, self.config)
        return replace(self, plan=plan, steps=(*self.steps, step))

    def tensorize(self, op: str, times: int = 1) -> "Schedule":
        """Blocks as tall as the array, or a multiple of it."""
        return self.then(Tensorize(op=op, times=times))

    def split(self, op: str, **sizes: Any) -> "Schedule":
        """Blocks of these `rows`, `tiles`, `keys`, or a `tail` of these parts."""
        return self.then(Split(op=op, **sizes))

    def tile(self, op: str, **sizes: Any) -> "Schedule":
        """Pieces of these sizes: `k`, `columns`, `a`, `first`, `drain`."""
        return self.then(Tile(op=op, **sizes))

    def reorder(self, op: str, **order: Any) -> "Schedule":
        """Another loop `outer`most, or the stage `before` that of another operator."""
        return self.then(Reorder(op=op, **order))

    def keep(self, op: str, what: Any, *, on_chip: bool = True) -> "Schedule":
        """Pieces stay on the chip for all that need them, or do not."""
        return self.then(Keep(op=op, what=what, on_chip=on_chip))

    def fuse(self, op: str, what: Any, *, together: bool = True) -> "Schedule":
        """Softmax or a norm is computed together with its sums, or apart."""
        return self.then(Fuse(op=op, what=what, together=together))

    def double_buffer(self, op: str, what: str, pieces: int = 2) -> "Schedule":
        """So many pieces have rows of their own."""
        return self.then(DoubleBuffer(op=op, what=what, pieces=pieces))

    def place(self, op: str, what: str, banks: tuple[int, ...]) -> "Schedule":
        """A ring of its own in whole banks."""
        return self.then(Place(op=op, what=what, banks=banks))

    def defer(self, op: str = "", *, on: bool = True) -> "Schedule":
        """Results leave behind the products that follow, or before them."""
        return self.then(Defer(op=op, on=on))
