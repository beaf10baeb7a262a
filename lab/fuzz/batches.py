"""Some cases in a row, in one process: of programs, of graphs, of models, or of damaged files."""

from collections import Counter
from pathlib import Path
from typing import Final

from celosia.isa.presets import resolve_config
from celosia.lab.fuzz.case import difference, draw_case, replay_file
from celosia.lab.fuzz.coverage import points
from celosia.lab.fuzz.files.attempt import attempt
from celosia.lab.fuzz.findings import Batch, Findings, Plan, What
from celosia.lab.fuzz.graphs.check import graph_difference
from celosia.lab.fuzz.graphs.random_graph import case_for
from celosia.lab.fuzz.shrink import shrink
from celosia.sim.support.extras import import_extra
from celosia.sim.support.output import write_file
from celosia.sw.mlir.print_graph import print_graph

__all__ = ["BATCH", "SEED_BITS", "run_batch"]

SEED_BITS: Final = 32
"""Bits of the number of a case in its campaign."""

BATCH: Final = 20
_Files = dict[str, str | bytes]
"""What shows a failure, by its names; empty if there is none."""
_SAMPLED: Final = 4
"""The number of programs of which one is sampled for coverage."""


def run_batch(plan: Plan, number: int) -> Batch:
    """The cases of batch `number` of a campaign, up to the first that fails."""
    one = {
        What.PROGRAMS: _program,
        What.GRAPHS: _graph,
        What.MODELS: _model,
        What.FILES: _file,
    }[plan.what]
    found, files = Findings(batches=1), dict[str, str | bytes]()
    for index in range(BATCH):
        found.cases += 1
        sampled = index % _SAMPLED == 0
        shown = one(plan, (plan.seed << SEED_BITS) + number * BATCH + index, found, sampled)
        if shown:
            files.update(shown)
            break  # One of a batch is enough; making it small took long.
    return Batch(found, files)


def _program(plan: Plan, seed: int, found: Findings, sampled: bool) -> _Files:
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
        return _failed(found, name, why, replay_file(small, name, plan.simulator, why))
    return {}


def _graph(plan: Plan, seed: int, found: Findings, _sampled: bool) -> _Files:
    config = resolve_config(plan.preset, plan.overrides)
    case = case_for(seed, config)
    commands, why = graph_difference(case, config, plan.simulator)
    found.commands += commands
    if why:
        name = str(Path(plan.place) / f"fuzz-{plan.preset}-{seed:x}.mlir")
        return _failed(found, name, why, f"// {why}\n{print_graph(case.graph)}")
    return {}


def _model(plan: Plan, seed: int, found: Findings, _sampled: bool) -> _Files:
    # These need packages that nothing else here does.
    model = import_extra("celosia.lab.fuzz.models.random_model", "onnx").random_model(seed)
    why = import_extra("celosia.lab.fuzz.models.check", "onnx").difference(model, plan)
    found.points = dict(Counter(found.points) + Counter(f"step {each}" for each in model.steps))
    if why:
        name = str(Path(plan.place) / f"fuzz-{plan.preset}-{seed:x}.onnx")
        return _failed(found, name, why, model.proto.SerializeToString())
    return {}


def _file(plan: Plan, seed: int, found: Findings, _sampled: bool) -> _Files:
    tried = attempt(seed, plan.kinds)
    found.points = dict(Counter(found.points) + Counter({f"file {tried.kind}": 1}))
    if tried.why:
        name = str(Path(plan.place) / f"fuzz-{seed:x}-{Path(tried.file).name}")
        return _failed(found, name, f"celosia {' '.join(tried.words)}: {tried.why}", tried.data)
    return {}


def _failed(found: Findings, name: str, why: str, content: str | bytes) -> _Files:
    """Note a failure, and write the file that shows it."""
    write_file(name, content)
    found.failures.append((name, why))
    return {name: content}
