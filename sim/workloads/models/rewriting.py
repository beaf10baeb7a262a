"""`--optimize`: graphs of workloads and models, rewritten before they are compiled."""

from collections.abc import Callable
from typing import Any

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.extensions import extension
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sw.compiler.costs import Costs
from celosia.sw.ir.graph import Graph

__all__ = ["rewriting", "rewritten", "search_progress"]


def rewritten(
    graph: Graph, config: AcceleratorConfig, timing: MemoryTiming, tell: Progress
) -> Graph:
    """The cheapest graph that substitutions lead to; its outputs are the same, bit for bit.

    Raises `InputError` for what the accelerator cannot do.
    """
    try:
        found = rewriting("integers")(graph, Costs(config, timing), progress=search_progress(tell))
    except ValueError as error:
        raise InputError(str(error)) from None
    return found.graph


def rewriting(level: str) -> Any:
    """What searches for a cheaper graph of `integers`, or of a `model` in floats.

    Raises `InputError` if no package adds it.
    """
    return extension("rewritings", level, "--optimize")


def search_progress(tell: Progress) -> Callable[[int, float], None]:
    """What tells how far a search is."""
    return lambda examined, best: tell(
        f"rewriting: {examined} graphs, the best {best:,.0f} cycles", None
    )
