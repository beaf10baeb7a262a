"""How far quantized models are from float: the exports of the catalog, MiniLM, and curves alone.

Models are calibrated on some seeds and measured on others, at their last hidden state.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from celosia.isa.functions.table import ACTIVATIONS
from celosia.sim.support.extras import import_extra
from celosia.sim.support.progress import Progress, silent
from celosia.sim.workloads.models.decibels import decibels
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.models.steps import Calibrate, Instantiate, Model, follow
from celosia.sw.quantize.curves import choose_curve, real_curve
from celosia.sw.quantize.graphs.exact import exact
from celosia.sw.quantize.graphs.quantized import interpreted, run_model
from celosia.sw.quantize.ranges import INT8_LARGEST, Clip, best_step
from celosia.sw.quantize.units.find_units import find_units
from celosia.sw.quantize.units.units import Product

__all__ = [
    "CALIBRATION",
    "INPUTS",
    "SPREADS",
    "CurveAccuracy",
    "ModelAccuracy",
    "SentenceAccuracy",
    "curve_accuracies",
    "hidden_model",
    "model_accuracy",
    "sentence_accuracy",
    "small_channels",
]

SPREADS: Final = (0.05, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0)
"""Standard deviations of what enters a curve."""
_NUMBERS: Final = (1000, 200)
_TOKENS: Final = 64
CALIBRATION: Final = range(1, 65)
"""Seeds of the samples of calibration."""
INPUTS: Final = range(1000, 1004)
"""Seeds that calibration does not have."""
_LARGE: Final = 4
"""A channel is large that is so many times the median of all."""


@dataclass(frozen=True)
class ModelAccuracy:
    """A model with one criterion of clipping, in dB; means over inputs."""

    model: str
    """An export of the catalog."""
    clip: Clip
    """The criterion of clipping."""
    sqnr_db: float
    """Without the large channels, as is the next one."""
    exact_sqnr_db: float
    """The same integers with exact functions."""
    whole_sqnr_db: float
    """With all channels."""
    least_sqnr_db: float
    """What the worst input reaches, without the large channels."""


@dataclass(frozen=True)
class SentenceAccuracy:
    """Cosines of sentences to float32: MiniLM, as `celosia run encoder --model minilm` has it."""

    clip: Clip
    """The criterion of clipping."""
    sentences: int
    """How many there are."""
    mean: float
    """The mean cosine."""
    least: float
    """The least cosine."""


@dataclass(frozen=True)
class CurveAccuracy:
    """A curve of normal numbers, with int8 results."""

    curve: str
    """The curve."""
    spread: float
    """The standard deviation of the numbers."""
    computed: str
    """The function of the accelerator that computes it, and its factor."""
    sqnr_db: float
    """The signal over the noise, in dB."""


def curve_accuracies() -> Iterator[CurveAccuracy]:
    """Each curve at each of the `SPREADS`, computed as the quantizer chooses to."""
    normal = np.random.default_rng(0).standard_normal(_NUMBERS, np.float32)
    for name in ACTIVATIONS:
        for spread in SPREADS:
            x = normal * np.float32(spread)
            chosen = choose_curve(name, 1.0, x[::2])
            y = chosen(x[1::2])
            step = best_step(y)
            found = np.clip(np.rint(y / step), -INT8_LARGEST, INT8_LARGEST) * step
            real = real_curve(name, x[1::2].astype(np.float64))
            factor = "" if chosen.alpha == 1 else f", {chosen.alpha:g} x"
            yield CurveAccuracy(name, spread, chosen.function + factor, decibels(real, found))


def hidden_model(name: str) -> tuple[Model, Callable[[int], dict[str, Array]]]:
    """An export of the catalog up to its last hidden state, and its inputs by their seed."""
    exports = import_extra("celosia.lab.exports.imported", "onnx")
    export, standard = exports.EXPORTS[name], exports.STANDARD
    recognized = exports.imported_export(name, tokens=_TOKENS).recognized
    graph = _hidden(recognized.graph)

    def inputs(seed: int) -> dict[str, Array]:
        drawn = export.inputs(standard, seed, tokens=_TOKENS)
        return {key: value for key, value in drawn.items() if key in graph.inputs}

    return Model.of(replace(recognized, graph=graph)), inputs


def model_accuracy(name: str, clip: Clip, tell: Progress = silent) -> ModelAccuracy:
    """An export of the catalog, by the interpreter of integer graphs."""
    known, inputs = hidden_model(name)
    samples = [inputs(seed) for seed in CALIBRATION]
    how = Calibrate(samples, clip, lambda what, done, total: tell(f"{name}: {what}", None))
    model = follow(how, Instantiate(), model=known).quantized
    found = []
    for seed in INPUTS:
        given = inputs(seed)
        (real,) = interpret(known.recognized.graph, given).values()
        small = small_channels(real)
        outputs = [
            next(iter(run_model(model, given, runner).outputs.values()))
            for runner in (interpreted, exact(model))
        ]
        found.append(
            [decibels(real[..., small], each[..., small]) for each in outputs]
            + [decibels(real, outputs[0])]
        )
    mean, best, whole = np.mean(found, axis=0).tolist()
    return ModelAccuracy(name, clip, mean, best, whole, float(np.min(found, axis=0)[0]))


def sentence_accuracy(clip: Clip, tell: Progress = silent) -> SentenceAccuracy:
    """MiniLM, calibrated on the project's texts, on its evaluation texts.

    Raises `MissingModelError` without the published weights.
    """
    # Loaded when it is asked for: it needs packages that nothing else here does.
    sentences = import_extra("celosia.sw.models.sentences", "minilm")
    model = sentences.quantize_published(
        lambda done, total: tell("minilm: choosing formats", done / total), clip=clip
    )
    cosines = sentences.evaluation_cosines(model)
    return SentenceAccuracy(clip, len(cosines), float(cosines.mean()), float(cosines.min()))


def _hidden(graph: FloatGraph) -> FloatGraph:
    """The graph up to its last hidden state: what the product that makes logits reads."""
    ((name, tensor),) = graph.outputs.items()
    head = find_units(graph).units.get(tensor)
    if "logits" not in name or not isinstance(head, Product):
        return graph
    return replace(graph, outputs={"last_hidden_state": head.x.tensor})


def small_channels(real: Array) -> Array:
    """Which channels are not large."""
    sizes = np.sqrt(np.square(real.reshape(-1, real.shape[-1])).mean(axis=0))
    return sizes <= _LARGE * np.median(sizes)
