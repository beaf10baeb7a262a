"""Some cases in a row, in one process: of programs, of graphs, or of damaged files."""

from collections import Counter
from pathlib import Path
from typing import Final

from celosia.isa.presets import resolve_config
from celosia.sim.fuzz.case import difference, draw_case, replay_file
from celosia.sim.fuzz.coverage import points
from celosia.sim.fuzz.files.attempt import attempt
from celosia.sim.fuzz.findings import Findings, Plan, What
from celosia.sim.fuzz.graphs.check import graph_difference
from celosia.sim.fuzz.graphs.random_graph import random_case
from celosia.sim.fuzz.shrink import shrink
from celosia.sim.support.output import write_file
from celosia.sw.mlir.print_graph import print_graph

__all__ = ["BATCH", "SEED_BITS", "run_batch"]

SEED_BITS: Final = 32
"""Bits of the number of a case in its campaign."""

BATCH: Final = 20
_SAMPLED: Final = 4
"""The number of programs of which one is sampled for coverage."""


def run_batch(plan: Plan, number: int) -> Findings:
    """The cases of batch `number` of a campaign, up to the first that fails."""
    one = {What.PROGRAMS: _program, What.GRAPHS: _graph, What.FILES: _file}[plan.what]
    found = Findings(batches=1)
    for index in range(BATCH):
        found.cases += 1
        sampled = index % _SAMPLED == 0
        if not one(plan, (plan.seed << SEED_BITS) + number * BATCH + index, found, sampled):
            break  # One of a batch is enough; making it small took long.
    return found


def _program(plan: Plan, seed: int, found: Findings, sampled: bool) -> bool:
    case = draw_case(seed, plan.preset, plan.overrides)
    program = case.recipe.program()
    found.commands += len(program.commands)
    if sampled:
        config = resolve_config(plan.preset, plan.overrides)
        found.points = dict(Counter(found.points) + points(program.commands, config))
    owners: Counter[str] = Counter()
    why = difference(case, program, plan.simulator, owners)
    found.points = dict(Counter(found.points) + owners)
    if why:
        name = str(Path(plan.place) / f"fuzz-{plan.preset}-{seed:x}.cel")
        # At once, and again when it is small: what interrupts shrinking does not lose it.
        write_file(name, replay_file(case, name, plan.simulator, why))
        small = shrink(case, lambda c: bool(difference(c, c.recipe.program(), plan.simulator)))
        why = difference(small, small.recipe.program(), plan.simulator) or why
        write_file(name, replay_file(small, name, plan.simulator, why))
        found.failures.append((name, why))
    return not why


def _graph(plan: Plan, seed: int, found: Findings, _sampled: bool) -> bool:
    config = resolve_config(plan.preset, plan.overrides)
    commands, why = graph_difference(random_case(seed), config, plan.simulator)
    found.commands += commands
    if why:
        name = str(Path(plan.place) / f"fuzz-{plan.preset}-{seed:x}.mlir")
        write_file(name, f"// {why}\n{print_graph(random_case(seed).graph)}")
        found.failures.append((name, why))
    return not why


def _file(plan: Plan, seed: int, found: Findings, _sampled: bool) -> bool:
    tried = attempt(seed, plan.kinds)
    found.points = dict(Counter(found.points) + Counter({f"file {tried.kind}": 1}))
    if tried.why:
        name = str(Path(plan.place) / f"fuzz-{seed:x}-{Path(tried.file).name}")
        write_file(name, tried.data)
        found.failures.append((name, f"celosia {' '.join(tried.words)}: {tried.why}"))
    return not tried.why
