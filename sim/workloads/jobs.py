"""Workloads that are ready to compile: whatever was named, built in or in a file, is graphs."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.cache import cached
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.details import Details, HeldModel, ModelFile, SavedModel
from celosia.sim.workloads.graph_workloads import GraphJob
from celosia.sim.workloads.models.model_job import ModelJob, model_job
from celosia.sim.workloads.models.precision import Precision
from celosia.sim.workloads.models.prepare import (
    ModelRun,
    Prepared,
    parse_fixed,
    parse_sizes,
    prepare,
)
from celosia.sim.workloads.models.rewriting import rewritten
from celosia.sim.workloads.models.samples import input_types
from celosia.sim.workloads.models.saved_model import chosen, load_prepared
from celosia.sim.workloads.models.weights import parse_rule, parse_weights
from celosia.sim.workloads.product_workloads import Operator
from celosia.sim.workloads.workload_kinds import GraphWorkload, ProductWorkload
from celosia.sim.workloads.workloads import (
    PROGRAM_SUFFIX,
    checked_details,
    is_model,
    workload_of,
)
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.operators.operator import TensorType
from celosia.sw.ir.graph import Graph
from celosia.sw.planning.problems import graph_of

__all__ = ["Job", "ProductJob", "job_of", "model_run"]


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
        return model_job(name, prepared, _inputs(found), hardware)
    tell("preparing the operands", None)
    match workload_of(name):
        case ProductWorkload() as workload:
            return ProductJob(tuple(workload.make(found, timing.seed)))
        case GraphWorkload() as workload:
            job = workload.make(found, timing.seed, tell)
            if not optimize:
                return job
            graph = rewritten(job.case.graph, config, timing, tell)
            return replace(job, case=replace(job.case, graph=graph))
        case None:
            raise AssertionError(name)


@dataclass(frozen=True, kw_only=True)
class _Prepare:
    """All that a prepared model depends on."""

    path: Path
    details: SavedModel
    seed: int
    hardware: tuple[AcceleratorConfig, MemoryTiming] | None
    """What it is rewritten for, or whose tiles its weights are packed in; None: it is the same for
    all."""
    optimize: bool
    """It is rewritten."""
    files: tuple[tuple[int, int] | None, ...]
    """Sizes and times of its files."""
    types: tuple[tuple[str, TensorType], ...] | None
    """What the inputs of a saved model are; None: there are none."""
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
        packed, files = False, () if isinstance(details, HeldModel) else (path,)
        if isinstance(details, ModelFile):
            packed = bool(details.weights or details.precision)
            chosen = Path(details.precision) if details.precision else None
            files = (path, *details.beside, details.calibrate, chosen)
        types = None
        if details.input is not None and not isinstance(details, ModelFile):
            types = tuple(input_types(details.input).items())
        return cls(
            path=path,
            details=alone,
            seed=hardware[1].seed,
            hardware=hardware if optimize or packed else None,
            optimize=optimize,
            files=tuple(_identity(each) for each in files if each),
            types=types,
            tell=tell,
        )


def _identity(path: Path) -> tuple[int, int] | None:
    """What changes when a file is written anew; None: it is not there."""
    try:
        found = path.absolute().stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def model_run(
    path: Path,
    details: ModelFile,
    hardware: tuple[AcceleratorConfig, MemoryTiming] | None = None,
    *,
    hint: bool = False,
) -> ModelRun:
    """A model's file with the options of its workload.

    With a `hint`, it is said what fewer bits would gain where all have eight, on the hardware.
    Raises `InputError` for options that have no meaning, and for a file of precisions that is none.
    """
    rule = parse_rule(details.precision, details.least_sqnr, details.most_cycles, details.weights)
    chosen = rule is not None or (hint and details.weights is None)
    return ModelRun(
        path=path,
        sizes=parse_sizes(details.dim),
        beside=details.beside,
        calibration=details.calibrate,
        clip=details.clip,
        per_tensor=details.per_tensor,
        fixed=parse_fixed(details.set_input),
        weights=parse_weights(details.weights),
        precision=Precision(rule, hardware) if hardware is not None and chosen else None,
    )


@lru_cache(maxsize=1)
def _prepared(asked: _Prepare) -> Prepared:
    """A model of a file, ready to run."""
    details, hardware = asked.details, asked.hardware
    if isinstance(details, ModelFile):
        run = model_run(asked.path, details, hardware)
        costs = Costs(*hardware) if hardware and asked.optimize else None
        return prepare(replace(run, costs=costs), asked.seed, asked.tell)
    held = details if isinstance(details, HeldModel) else None
    path = asked.path if held is None else _kept(f"{held.digest}.plan", held.model)
    prepared = chosen(load_prepared(path), str(asked.path), parse_sizes(details.dim), asked.types)
    return prepared if hardware is None else _rewritten(prepared, *hardware, asked.tell)


def _rewritten(
    prepared: Prepared, config: AcceleratorConfig, timing: MemoryTiming, tell: Progress
) -> Prepared:
    """A saved model whose segments are rewritten."""
    segments = tuple(
        replace(each, graph=rewritten(each.graph, config, timing, tell))
        for each in prepared.model.segments
    )
    model = replace(prepared.model, segments=segments)
    return replace(prepared, model=model, decided=None)


def _inputs(details: SavedModel) -> Path | None:
    """The file of a model's inputs."""
    if isinstance(details, HeldModel) and details.inputs:
        return _kept(f"{details.digest}.npz", details.inputs)
    return details.input


def _kept(name: str, content: bytes) -> Path:
    """A file with this content, in the cache."""

    def make(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content)
        return path

    return cached(f"held/{name}", make)
