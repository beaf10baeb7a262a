"""Plans that were decided before, on this machine: whoever compiles what is alike need not compare.

A plan in the cache is named by all that decides it: the compiler's sources, the configuration, the
memory, and the graph but for its numbers.  So other weights, and another calibration, have the
plans of the first, and nothing that is old is ever found.  It is the plan that would be decided
now, and is verified as a given one is: what is damaged, or not legal, is decided anew.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Final, Literal

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.cache import cache_directory, cached, digest, sound
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.version import source_version
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import Decide, find_plan
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graphs.alike import anonymous
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.forms.text import parse_plan, print_plan
from celosia.sw.planning.rules.verify import verify_plan

__all__ = ["MOST_PLANS", "DecideOnce", "Kind", "kept_plan"]

MOST_PLANS: Final = 500
"""The plans that are kept, some kilobytes each: those that were used last."""

_FOLDER: Final = "plans"
_COMPILER: Final = ("isa", "sw", "sim")
"""What decides a plan, and what compares plans for a saved model."""
Kind = Literal["found", "compared"]
"""What decides a plan: `find_plan`, or what compares it with its alternatives."""


@dataclass(frozen=True)
class DecideOnce(Decide):
    """Decides as `Decide` does; what it compares plans for is in the cache from then on."""

    def apply(self, compiled: CompiledGraph) -> CompiledGraph:
        """Raises `ValueError` as `Decide` does."""
        graph, config, timing = compiled.graph, compiled.config, compiled.timing
        if self.plan is not None or timing is None:
            return super().apply(compiled)
        plan = kept_plan("found", graph, config, timing, lambda: find_plan(graph, config, timing))
        return replace(compiled, plan=plan)


def kept_plan(
    kind: Kind,
    graph: Graph,
    config: AcceleratorConfig,
    timing: MemoryTiming,
    decide: Callable[[], Plan],
) -> Plan:
    """What `decide` decides for a graph, taken from the cache if it is there.

    `kind` names what decides.  A cache that cannot be written keeps nothing.  Raises what `decide`
    raises.
    """
    name = f"{_FOLDER}/{_key(kind, graph, config, timing)}.toml"
    if (known := _known(name, graph, config)) is not None:
        return known
    plan = decide()

    def write(work: Path) -> Path:
        (work / "plan").write_text(print_plan(plan), encoding="utf-8")
        return work / "plan"

    with suppress(EnvironmentProblem):
        cached(name, write)
        _forget_old()
    return plan


def _key(kind: str, graph: Graph, config: AcceleratorConfig, timing: MemoryTiming) -> str:
    """Names all that decides the plan of a graph."""
    names = [[view.tensor for view in (*op.operands, *op.results)] for op in graph.ops]
    kinds = [(each.cache, each.scratch) for each in graph.tensors.values()]
    ends = graph.inputs, graph.outputs, sorted(graph.constants)
    return digest([
        *(kind, source_version(_COMPILER), repr(asdict(config)), repr(asdict(timing))),
        *(
            graph.name,
            repr(anonymous(graph.tensors, graph.ops)),
            repr([*graph.tensors]),
            repr(ends),
        ),
        *(repr([op.name for op in graph.ops]), repr(names), repr(kinds)),
    ])


def _known(name: str, graph: Graph, config: AcceleratorConfig) -> Plan | None:
    """The plan of this name, if the cache has one that is legal."""
    with suppress(OSError, EnvironmentProblem):
        if path := sound(name):
            try:
                plan = verify_plan(parse_plan(path.read_text(encoding="utf-8")), graph, config)
            except ValueError:
                path.unlink()
                return None
            os.utime(path)
            return plan
    return None


def _forget_old() -> None:
    """Remove the plans that were not used for longest, of more than are kept.

    Another process may do the same: what is gone is gone.
    """
    ages: list[tuple[float, Path]] = []
    for path in (cache_directory() / _FOLDER).glob("*.toml"):
        with suppress(OSError):
            ages.append((path.stat().st_mtime, path))
    for _, path in sorted(ages)[: max(0, len(ages) - MOST_PLANS)]:
        for each in (path, path.with_name(f".{path.name}.record")):
            each.unlink(missing_ok=True)
        path.with_name(f".{path.name}.lock").unlink(missing_ok=True)
