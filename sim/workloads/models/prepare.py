"""A model of another tool as segments of integers: imported, recognized, quantized."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Final

from celosia.isa.encoding import WeightType
from celosia.sim.support.extras import import_extra
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, silent
from celosia.sim.workloads.models.decided import Decided
from celosia.sim.workloads.models.input_ranges import Ranges, few_rows, input_ranges
from celosia.sim.workloads.models.per_tensor import losses
from celosia.sim.workloads.models.precision import (
    ALL_INT4,
    Compared,
    Precision,
    PrecisionChoice,
    decide,
    gain_note,
    left_out,
)
from celosia.sim.workloads.models.rewriting import rewriting, search_progress
from celosia.sim.workloads.models.samples import read_samples
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.frontend.recognize.masks import is_right_padded
from celosia.sw.models.steps import Calibrate, Import, Instantiate, Model, Recognize, follow
from celosia.sw.quantize.graphs.files.model_file import Calibrated
from celosia.sw.quantize.graphs.formats import Formats
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, padded_masks
from celosia.sw.quantize.precision import Bounds
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.units.placement import Placement, place
from celosia.sw.quantize.units.stored import units_of
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes

__all__ = [
    "ModelRun",
    "Prepared",
    "import_file",
    "other_masks",
    "parse_fixed",
    "parse_profiles",
    "parse_sizes",
    "prepare",
    "prepare_profiles",
    "random_samples",
]

Sizes = Mapping[str, int]
"""Sizes of inputs, by their names."""

_RANDOM_SAMPLES: Final = 8
"""Samples to calibrate on, where none are given."""
_MOST_PROFILES: Final = 64
"""The most sizes that a model is saved for."""


@dataclass(frozen=True)
class ModelRun:
    """A model's file, and what it is quantized with."""

    path: Path
    sizes: Sizes
    calibration: Path | Mapping[str, Array] | None = None
    """An .npz file, or what is in it."""
    clip: Clip = "error"
    """Where values of 8 bits are clipped."""
    per_tensor: bool = False
    """Products have one scale, and the host computes what stores do not finish."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """The number of each input that is a constant, as text."""
    costs: Costs | None = None
    """What it is rewritten by; None: it is quantized as it was recognized."""
    weights: WeightTypes = INT8_WEIGHTS
    """The types of the weights of products."""
    precision: Precision | None = None
    """How they are chosen, if `weights` do not say it."""
    beside: Sequence[Path] = ()
    """Files whose models are in the same graph."""


@dataclass(frozen=True)
class Prepared:
    """A quantized model, and what is known of where it came from."""

    model: QuantizedGraph
    placement: Placement
    notes: tuple[str, ...]
    graph: FloatGraph | None = None
    """What outputs are compared with; None: the model is from a plan, which does not have it."""
    ranges: Ranges = field(default_factory=dict)
    """The least and the largest number of each input in calibration."""
    decided: Decided | None = None
    """The plans of a saved model; None: they are decided when it is compiled."""
    sizes: Sizes = field(default_factory=dict)
    """The sizes that were bound, by their names."""
    precision: PrecisionChoice | None = None
    """Which products have which weights, if that was chosen."""
    calibrated: Calibrated | None = None
    """What `model` is made of; None: it was rewritten, and is not saved."""


def import_file(
    path: Path,
    sizes: Sizes,
    fixed: Mapping[str, str] | None = None,
    beside: Sequence[Path] = (),
) -> Model:
    """A model behind `Import`.  Raises `EnvironmentProblem` without onnx, and `ImportProblem`."""
    import_extra("celosia.sw.frontend.importer.import_model", "onnx")
    return follow(Import(path, sizes, fixed or {}, beside))


def prepare(job: ModelRun, seed: int, tell: Progress = silent) -> Prepared:
    """Import and quantize a model.  Raises `InputError` and `ImportProblem`."""
    if job.costs is not None and job.per_tensor:
        raise InputError(
            "--per-tensor: not with --optimize, whose costs and rules are those of a scale for "
            "each column, which only a normalization unit applies"
        )
    if job.costs is not None and (job.precision or job.weights.inner is not WeightType.INT8):
        option = "precision" if job.precision else "weights"
        raise InputError(f"--{option}: not with --optimize, whose integers all have eight bits")
    if job.costs is None:
        (prepared,) = prepare_profiles(job, [job.sizes], seed, tell)
        return prepared
    source = _Source(job, [job.sizes], tell)
    samples = source.samples(seed)
    with _naming(job.path):
        done = rewriting("model")(
            source.models[0],
            samples,
            job.costs,
            clip=job.clip,
            progress=search_progress(tell),
        )
    source.models[0] = done.model
    return source.prepared(0, done.model.quantized, samples)


def prepare_profiles(
    job: ModelRun, profiles: Sequence[Sizes], seed: int, tell: Progress = silent
) -> tuple[Prepared, ...]:
    """Import a model for each of some sizes, and quantize them alike: `job` has other options.

    Samples to calibrate on are of one of these sizes.  Raises `InputError` and `ImportProblem`.
    """
    source, found = _Source(job, profiles, tell), []
    samples = source.samples(seed)
    compared = Compared(samples)
    if job.precision is not None and isinstance(job.precision.rule, Bounds):
        samples, compared = left_out(samples)
    how = Calibrate(
        samples, job.clip, lambda what, done, total: tell(f"{what}: {done} of {total}", None)
    )
    with _naming(job.path):
        mine = replace(how, per_tensor=job.per_tensor, weights=job.weights)
        formats, choice = source.formats(mine, compared)
        for each, model in enumerate(source.models):
            quantized = Instantiate().make(model.with_made(Calibrate, formats))
            if job.per_tensor and each == source.calibrated:
                usual = follow(how, Instantiate(), model=model).quantized
                source.notes += (*losses(source.graph(each), samples, quantized, usual),)
            prepared = source.prepared(each, quantized, samples)
            calibrated = Calibrated(graphs=(source.graph(each),), formats=formats)
            found.append(replace(prepared, calibrated=calibrated, precision=choice))
    return tuple(found)


class _Source:
    """A model that is imported for some sizes, and recognized."""

    def __init__(self, job: ModelRun, profiles: Sequence[Sizes], tell: Progress):
        self.job, self.profiles, self.tell = job, profiles, tell
        tell(f"importing {job.path}", None)
        imported = [import_file(job.path, each, job.fixed, job.beside) for each in profiles]
        tell("recognizing operators", None)
        self.models = [follow(Recognize(), model=each) for each in imported]
        self.notes: tuple[str, ...] = ()
        self.calibrated = 0
        """The number of the sizes that samples have."""

    def graph(self, number: int) -> FloatGraph:
        """The recognized graph of some sizes."""
        return self.models[number].recognized.graph

    def samples(self, seed: int) -> list[dict[str, Array]]:
        """What the model is calibrated on.

        With masks in it that are not padded on the right, all graphs are recognized so.
        """
        given = self.job.calibration
        if given is None:
            self.notes = (
                "calibrated on random data: give --calibrate for the accuracy of real data",
            )
            return random_samples(self.graph(0), seed)
        samples = self._given(given)
        if other := other_masks(self.graph(self.calibrated), samples):
            self.notes = (f"{', '.join(other)}: not padded on the right: added to scores",)
            self.models = [follow(Recognize(padded=False), model=each) for each in self.models]
        return samples

    def _given(self, given: Path | Mapping[str, Array]) -> list[dict[str, Array]]:
        """Samples of the first sizes that they fit.  Raises `InputError`."""
        problems = []
        for number, each in enumerate(self.models):
            try:
                samples = read_samples(given, each.imported.graph)
            except InputError as problem:
                problems.append(problem)
            else:
                self.calibrated = number
                return samples
        raise problems[0]

    def formats(self, how: Calibrate, compared: Compared) -> tuple[Formats, PrecisionChoice | None]:
        """Formats of all sizes, and which products have which weights, if that is chosen."""
        model, precision = self.models[self.calibrated], self.job.precision
        if precision is None or precision.rule is None:
            if precision is not None and (note := gain_note(model.recognized.graph, precision)):
                self.notes += (note,)
            return how.make(model), None
        both = INT8_WEIGHTS, ALL_INT4
        eight, four, sixteen = replace(how, wide=True).make_each(model, both)
        graph = model.recognized.graph
        formats, choice = decide(graph, (eight, four, sixteen), compared, precision, self.tell)
        self.notes += (choice.note, *(each for each in four.notes if each not in eight.notes))
        return formats, choice

    def prepared(
        self, number: int, model: QuantizedGraph, samples: Sequence[Mapping[str, Array]]
    ) -> Prepared:
        """The model of some sizes.  Raises `InputError` if the accelerator has no part of it."""
        imported, recognized = self.models[number].imported, self.models[number].recognized
        graph, notes = recognized.graph, [*imported.notes, *self.notes, *recognized.faults]
        if not model.segments:
            types, reason = graph.types(), "nothing of it is for the accelerator"
            if not any(types[tensor].size for tensor in graph.outputs.values()):
                names = ", ".join(graph.outputs)
                reason = f"its outputs ({names}) have no elements: give other sizes"
            raise InputError(f"{self.job.path}: {reason}")
        units = units_of(graph, model.apart, model.caps, per_tensor=self.job.per_tensor)
        if self.job.calibration is not None and number == self.calibrated:
            notes += few_rows(graph, units, model.masks, samples)
        return Prepared(
            model=model,
            placement=place(imported.graph, recognized, units),
            notes=(*notes, *model.notes),
            graph=graph,
            ranges=input_ranges(model.inputs, samples),
            sizes=self.profiles[number],
        )


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Raise `InputError` that names the model's file for what keeps it from being quantized."""
    try:
        yield
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def random_samples(graph: FloatGraph, seed: int) -> list[dict[str, Array]]:
    """Samples to calibrate on where none are given."""
    # A mask that is no count of keys is known by its name only.
    masks = [name for name in graph.inputs if "mask" in name]
    masks += padded_masks(graph, units_of(graph))
    return [random_inputs(graph, masks, seed + 1 + each) for each in range(_RANDOM_SAMPLES)]


def other_masks(graph: FloatGraph, samples: Sequence[Mapping[str, Array]]) -> list[str]:
    """The masks of a recognized graph that are not padded on the right in all samples."""
    masks = sorted(set(padded_masks(graph, units_of(graph))))
    return [
        name
        for name in masks
        if not all(is_right_padded(each[name]) for each in samples if name in each)
    ]


def parse_sizes(texts: Sequence[str]) -> dict[str, int]:
    """The sizes that ``NAME=N`` bind.  Raises `InputError`."""
    found: dict[str, int] = {}
    for text in texts:
        name, _, size = text.rpartition("=")
        if not name or not size.isascii() or not size.isdigit() or len(size) > 18:
            raise InputError(f"--dim {text}: is not NAME=N with a whole number")
        if found.setdefault(name, int(size)) != int(size):
            raise InputError(f"--dim {text}: {name} is {found[name]} already")
    return found


def parse_profiles(texts: Sequence[str]) -> tuple[dict[str, int], ...]:
    """The sizes that ``NAME=N`` bind, once for each combination of those given of each name.

    Raises `InputError`.
    """
    found: dict[str, list[int]] = {}
    for text in texts:
        for name, size in parse_sizes([text]).items():
            if size not in found.setdefault(name, []):
                found[name].append(size)
    combined = [dict(zip(found, sizes, strict=True)) for sizes in product(*found.values())]
    if len(combined) > _MOST_PROFILES:
        raise InputError(f"--dim: {len(combined)} sizes are more than {_MOST_PROFILES}")
    return tuple(combined)


def parse_fixed(texts: Sequence[str]) -> dict[str, str]:
    """The text of the number that ``NAME=VALUE`` fixes an input to.  Raises `InputError`."""
    found: dict[str, str] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not name or not number:
            raise InputError(f"--set-input {text}: is not NAME=VALUE")
        if found.setdefault(name, number) != number:
            raise InputError(f"--set-input {text}: {name} is {found[name]} already")
    return found
