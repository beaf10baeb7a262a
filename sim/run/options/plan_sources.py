"""A source of plans: what an option of `celosia run` and `celosia compile` takes plans from.

Sources register themselves as entry points `celosia.plans`, under the name of their option.
"""

from collections.abc import Callable
from dataclasses import dataclass

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.problems import InputError
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.forms.plan import Plan

__all__ = ["OtherGraphError", "PlanSource"]


class OtherGraphError(InputError):
    """What a source was given has plans, but none of this graph."""


@dataclass(frozen=True)
class PlanSource:
    """Where plans come from."""

    check: Callable[[str], None]
    """Raises `InputError` for a value of the option that can be refused without a graph."""
    plan: Callable[[str, Graph, AcceleratorConfig, MemoryTiming], Plan | None]
    """The plan of a graph; None: the compiler's own.

    Raises `InputError`, `ValueError`, and `OtherGraphError`, which counts only if it is raised for
    all graphs of a workload.
    """
