"""What a workload is: the record of its options, and what makes its products or its graph."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from celosia.sim.support.progress import Progress
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.product_workloads import Operator

__all__ = ["GraphWorkload", "ProductWorkload"]


@dataclass(frozen=True)
class ProductWorkload:
    """Products that run one after the other, each as a program."""

    doc: str
    details: type[Any]
    """The record of its options, one of `celosia.sim.workloads.details.Details`."""
    make: Callable[[Any, int], Sequence[Operator]]
    """The products for these details and this seed; raises `InputError`."""


@dataclass(frozen=True)
class GraphWorkload:
    """A graph that is one program."""

    doc: str
    details: type[Any]
    """The record of its options, one of `celosia.sim.workloads.details.Details`."""
    make: Callable[[Any, int, Progress], GraphJob]
    """The graph for these details, this seed and who is told of progress; raises `InputError`."""
