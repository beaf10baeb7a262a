"""What a workload is: its options, and what makes its products or its graph."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from celosia.sim.support.progress import Progress
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.product_workloads import Operator
from celosia.sim.workloads.workload_options import WorkloadOptions

__all__ = ["GraphWorkload", "ProductWorkload"]


@dataclass(frozen=True)
class ProductWorkload:
    """Products that run one after the other, each as a program."""

    doc: str
    options: frozenset[str]
    """Names of `WorkloadOptions` that it has."""
    make: Callable[[WorkloadOptions, int], Sequence[Operator]]
    """The products for these options and this seed; raises `InputError`."""


@dataclass(frozen=True)
class GraphWorkload:
    """A graph that is one program."""

    doc: str
    options: frozenset[str]
    """Names of `WorkloadOptions` that it has."""
    make: Callable[[WorkloadOptions, int, Progress], GraphJob]
    """The graph for these options and this seed; raises `InputError`."""
