"""A model of another tool as segments of integers: imported, recognized, quantized."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from celosia.sim.support.extras import import_extra
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, silent
from celosia.sim.workloads.models.decided import Decided
from celosia.sim.workloads.models.input_ranges import Ranges, few_rows, input_ranges
from celosia.sim.workloads.models.rewriting import rewriting, search_progress
from celosia.sim.workloads.models.samples import read_samples
from celosia.sw.compiler.costs import Costs
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.frontend.recognize.masks import is_right_padded
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.frontend.said_ranges import said_ranges
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, instantiate, padded_masks
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.placement import Placement, place

__all__ = [
    "ModelRun",
    "Prepared",
    "other_masks",
    "parse_fixed",
    "parse_sizes",
    "prepare",
    "random_samples",
]

_RANDOM_SAMPLES: Final = 8
"""Samples to calibrate on, where none are given."""


@dataclass(frozen=True)
class ModelRun:
    """A model's file, and what it is quantized with."""

    path: Path
    sizes: Mapping[str, int]
    calibration: Path | Mapping[str, Array] | None = None
    """An .npz file, or what is in it."""
    clip: Clip = "error"
    """Where values of 8 bits are clipped."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """The number of each input that is a constant, as text."""
    costs: Costs | None = None
    """What it is rewritten by; None: it is quantized as it was recognized."""


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


def prepare(job: ModelRun, seed: int, tell: Progress = silent) -> Prepared:
    """Import and quantize a model.  Raises `InputError` and `ImportProblem`."""
    importer = import_extra("celosia.sw.frontend.importer.import_model", "onnx")
    tell(f"importing {job.path}", None)
    imported = importer.import_model(job.path, job.sizes, job.fixed)
    tell("recognizing operators", None)
    recognized, notes = recognize(imported.graph), list(imported.notes)
    if job.calibration is None:
        notes.append("calibrated on random data: give --calibrate for the accuracy of real data")
        samples = random_samples(recognized.graph, seed)
    else:
        samples = read_samples(job.calibration, imported.graph)
        other = other_masks(recognized.graph, samples)
        if other:
            notes.append(f"{', '.join(other)}: not padded on the right: added to scores")
            recognized = recognize(imported.graph, padded=False)
    notes += recognized.faults
    graph = recognized.graph
    try:
        said = said_ranges(imported.graph, imported.ranges)
        if job.costs is None:
            formats = calibrate(
                lambda _: graph,
                samples,
                lambda what, done, total: tell(f"{what}: {done} of {total}", None),
                said,
                clip=job.clip,
            )
            model = instantiate(graph, formats)
        else:
            done = rewriting("model")(
                graph, samples, job.costs, said=said, progress=search_progress(tell)
            )
            model, recognized = done.model, replace(recognized, graph=done.floats.graph)
    except ValueError as error:
        raise InputError(f"{job.path}: {error}") from None
    if not model.segments:
        types, reason = graph.types(), "nothing of it is for the accelerator"
        if not any(types[tensor].size for tensor in graph.outputs.values()):
            reason = f"its outputs ({', '.join(graph.outputs)}) have no elements: give other sizes"
        raise InputError(f"{job.path}: {reason}")
    units = find_units(recognized.graph)
    if job.calibration is not None:
        notes += few_rows(recognized.graph, units, model.masks, samples)
    placement = place(imported.graph, recognized, units)
    ranges = input_ranges(model.inputs, samples)
    return Prepared(model, placement, (*notes, *model.notes), graph, ranges)


def random_samples(graph: FloatGraph, seed: int) -> list[dict[str, Array]]:
    """Samples to calibrate on where none are given."""
    # A mask that is no count of keys is known by its name only.
    masks = [name for name in graph.inputs if "mask" in name]
    masks += padded_masks(graph, find_units(graph))
    return [random_inputs(graph, masks, seed + 1 + each) for each in range(_RANDOM_SAMPLES)]


def other_masks(graph: FloatGraph, samples: Sequence[Mapping[str, Array]]) -> list[str]:
    """The masks of a recognized graph that are not padded on the right in all samples."""
    masks = sorted(set(padded_masks(graph, find_units(graph))))
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
