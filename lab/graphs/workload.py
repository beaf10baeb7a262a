"""The workload `branches`: graphs whose branches do not depend on each other."""

from typing import Final

from celosia.lab.graphs.branches import BRANCHES, branches_case
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Branches
from celosia.sim.workloads.graph_workloads import GraphJob, needed
from celosia.sim.workloads.workload_kinds import GraphWorkload

__all__ = ["BRANCHES_WORKLOAD", "branches"]


def branches(options: Branches, seed: int, _tell: Progress) -> GraphJob:
    """A graph with branches that do not depend on each other, with random weights."""
    name = needed("branches", "model", options.model)
    if name not in BRANCHES:
        raise InputError(f"--model {name}: branches has {', '.join(BRANCHES)}")
    return GraphJob(branches_case(name, seed))


BRANCHES_WORKLOAD: Final = GraphWorkload(
    "a graph with branches that do not depend on each other, with random weights",
    Branches,
    branches,
)
