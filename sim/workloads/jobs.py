"""Workloads that are ready to compile: whatever was named, built in or in a file, is graphs."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Details, ModelFile, SavedModel
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.models.model_job import ModelJob, model_job
from celosia.sim.workloads.models.prepare import (
    ModelRun,
    Prepared,
    parse_fixed,
    parse_sizes,
    prepare,
)
from celosia.sim.workloads.models.rewriting import rewritten
from celosia.sim.workloads.models.saved_model import SAVED_SUFFIX, load_prepared
from celosia.sim.workloads.product_workloads import Operator
from celosia.sim.workloads.workload_kinds import GraphWorkload, ProductWorkload
from celosia.sim.workloads.workloads import (
    PROGRAM_SUFFIX,
    WORKLOADS,
    checked_details,
    is_model,
)
from celosia.sw.compiler.costs import Costs
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.problems import graph_of

__all__ = ["Job", "ProductJob", "job_of"]


@dataclass(frozen=True, eq=False)
class ProductJob:
    """Products, each a program of its own."""

    operators: tuple[Operator, ...]

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """A graph for each product."""
        return tuple(graph_of(each.name, each.operands.problem) for each in self.operators)


Job = ProductJob | GraphJob | ModelJob
"""What a name or a file stands for: `graphs`, and what each kind runs them on."""


def job_of(
    name: str,
    details: Details | None,
    hardware: tuple[AcceleratorConfig, MemoryTiming],
    tell: Progress,
    *,
    optimize: bool = False,
) -> Job:
    """The workload `name`, or the model in the file of this name.

    With `optimize`, graphs are rewritten for the hardware; what is random is of the memory's seed.
    A model that was opened last is not prepared again.

    Raises `InputError` for what cannot be opened: programs are compiled already.
    """
    if name.endswith(PROGRAM_SUFFIX):
        raise InputError(f"{name}: a program is compiled already")
    found, (config, timing) = checked_details(name, details), hardware
    if is_model(name):
        prepared = _prepared(_Prepare.of(name, found, hardware, tell, optimize=optimize))
        return model_job(name, prepared, found.input, config, timing.seed)
    tell("preparing the operands", None)
    match WORKLOADS[name]:
        case ProductWorkload() as workload:
            return ProductJob(tuple(workload.make(found, timing.seed)))
        case GraphWorkload() as workload:
            job = workload.make(found, timing.seed, tell)
            if not optimize:
                return job
            graph = rewritten(job.case.graph, config, timing, tell)
            return replace(job, case=replace(job.case, graph=graph))


@dataclass(frozen=True, kw_only=True)
class _Prepare:
    """All that a prepared model depends on."""

    path: Path
    details: SavedModel
    seed: int
    hardware: tuple[AcceleratorConfig, MemoryTiming] | None
    """What it is rewritten or was saved for; None: it does not depend on that."""
    files: tuple[tuple[int, int] | None, ...]
    """Sizes and times of its files."""
    optimize: bool
    tell: Progress = field(compare=False)

    @classmethod
    def of(
        cls,
        name: str,
        details: SavedModel,
        hardware: tuple[AcceleratorConfig, MemoryTiming],
        tell: Progress,
        *,
        optimize: bool,
    ) -> "_Prepare":
        """What is asked for, inputs aside."""
        path, alone = Path(name), replace(details, input=None)
        calibration = details.calibrate if isinstance(details, ModelFile) else None
        saved = path.suffix == SAVED_SUFFIX
        return cls(
            path=path,
            details=alone,
            seed=hardware[1].seed,
            hardware=hardware if saved or optimize else None,
            files=tuple(_identity(each) for each in (path, calibration) if each is not None),
            optimize=optimize,
            tell=tell,
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """What changes when a file is written anew; None: it is not there."""
    try:
        found = path.absolute().stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


@lru_cache(maxsize=1)
def _prepared(asked: _Prepare) -> Prepared:
    """A model of a file, ready to run."""
    costs = Costs(*asked.hardware) if asked.optimize and asked.hardware else None
    if isinstance(asked.details, ModelFile):
        run = ModelRun(
            path=asked.path,
            sizes=parse_sizes(asked.details.dim),
            calibration=asked.details.calibrate,
            clip=asked.details.clip,
            fixed=parse_fixed(asked.details.set_input),
            costs=costs,
        )
        return prepare(run, asked.seed, asked.tell)
    assert asked.hardware is not None
    prepared = load_prepared(asked.path, asked.hardware[0])
    return prepared if costs is None else _rewritten(prepared, asked)


def _rewritten(prepared: Prepared, asked: _Prepare) -> Prepared:
    """A saved model whose segments are rewritten."""
    assert asked.hardware is not None
    config, timing = asked.hardware
    segments = tuple(
        replace(each, graph=rewritten(each.graph, config, timing, asked.tell))
        for each in prepared.model.segments
    )
    return replace(prepared, model=replace(prepared.model, segments=segments))
