"""Which operators lose what the outputs of a model lack: measured only where they lack much."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Annotated, Final, Literal

from celosia.isa.config import AcceleratorConfig
from celosia.isa.documents.record import Named
from celosia.sim.profile.alike import kind_of_name, span_name
from celosia.sim.run.models.distances import Distance
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.models.decibels import decibels
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.visible_rows import Rows
from celosia.sw.ir.graph import Activation, DeferredSoftmax, DivideBySums, LayerNorm, Op, Softmax
from celosia.sw.quantize.graphs.exact import exact
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, run_model
from celosia.sw.quantize.losses.unit_losses import Losses, UnitError
from celosia.sw.quantize.precision import decibels_of, noise_of
from celosia.sw.quantize.units.stored import units_of

__all__ = ["LossFinder", "OperatorLoss", "OutputLoss", "lacking", "loss_note"]

_LEAST_DB: Final = 20.0
"""Outputs that have less are said to lack something."""
_MOST_LOST_DB: Final = 2.0
"""What the accelerator's functions may cost."""
_SHOWN: Final = 3
"""Operators, or kinds of them, that a note names."""
_NOISE: Final = 0.05
"""An operator with a smaller share of the noise is not named."""
_BUDGET: Final = 2_000_000_000
"""What may be computed again for others than the first operator of each kind, as `Losses.cost`
counts it: half a minute to a minute of a server core."""


@dataclass(frozen=True)
class OperatorLoss:
    """What an operator of the file, or several that are alike, lose alone."""

    node: str
    """The node that computes it, with its operator; of alike ones, what they have in common."""
    nodes: int
    """How many they are."""
    sqnr_db: float
    """What the output keeps then; of several, if their noises have nothing in common."""
    share: Annotated[float, Named("noise_share")]
    """Their noise as a share of that of all that were measured."""


@dataclass(frozen=True)
class OutputLoss:
    """Where most of an output is lost."""

    output: str
    """The output."""
    cause: Literal["integers", "functions"]
    """What an operator has alone: integers, and the rest is float; or the accelerator's functions,
    and the rest are integers with exact ones."""
    operators: tuple[OperatorLoss, ...]
    """The ones that lose most, worst first."""
    measured: int
    """How many operators were measured: where it would take too long, not all."""
    of: int
    """How many there are."""


def lacking(distances: Sequence[Distance]) -> Distance | None:
    """The output that lacks most; None: all have what they should."""
    low = [each for each in distances if each.sqnr_db < _LEAST_DB]
    low += [each for each in distances if _by_functions(each)]
    return min(low, key=lambda each: each.sqnr_db, default=None)


def loss_note(lost: OutputLoss, distances: Sequence[Distance]) -> str:
    """The note that names the operators."""
    far = next(each for each in distances if each.name == lost.output)
    named = ", ".join(f"{each.node} {each.sqnr_db:.1f} dB" for each in lost.operators)
    some = "" if lost.measured == lost.of else f" (of {lost.of:,} operators {lost.measured:,})"
    if lost.cause == "functions":
        return (
            f"output {far.name}: {far.sqnr_db:.1f} dB, {far.exact_sqnr_db:.1f} with exact "
            f"functions; with the accelerator's in one place alone{some}: {named}"
        )
    return (
        f"output {far.name}: {far.sqnr_db:.1f} dB; with one operator alone in integers, the rest "
        f"in float{some}: {named}"
    )


def _by_functions(far: Distance) -> bool:
    return far.sqnr_db < far.exact_sqnr_db - _MOST_LOST_DB


@dataclass(frozen=True, eq=False)
class LossFinder:
    """A model, its inputs as `check_inputs` returned them, and what its float graph makes of it."""

    graph: FloatGraph
    model: QuantizedGraph
    config: AcceleratorConfig
    inputs: Mapping[str, Array]
    real: Mapping[str, Array]
    rows: Mapping[str, Rows]
    """The rows that count of each output."""
    tell: Progress

    def find(self, far: Distance) -> OutputLoss:
        """The operators that lose most of an output that is `lacking`."""
        if far.sqnr_db >= _LEAST_DB:
            return self._functions(far)
        return self._integers(far)

    def _integers(self, far: Distance) -> OutputLoss:
        """Each unit alone in integers: first one of each kind, then those of the worst kinds."""
        units = units_of(self.graph, self.model.apart, self.model.caps)
        losses = Losses(self.graph, units, self.model, self.inputs, self.config)
        kinds: dict[str, list[UnitError]] = {}
        for each in losses.errors():
            kinds.setdefault(kind_of_name(each.node), []).append(each)
        noises: dict[str, list[tuple[str, float]]] = {kind: [] for kind in kinds}
        count, left = sum(map(len, kinds.values())), _BUDGET

        def measure(kind: str, each: UnitError) -> None:
            done = sum(map(len, noises.values())) / count
            self.tell("the same with one operator alone in integers", done)
            out = losses.outputs(each, [far.name])[far.name]
            noises[kind].append((each.node, self._noise(far, out)))

        for kind, (first, *_) in kinds.items():
            left -= losses.cost(first.tensor)
            measure(kind, first)
        for kind in sorted(kinds, key=lambda kind: -noises[kind][0][1]):
            for each in kinds[kind][1:]:
                left -= losses.cost(each.tensor)
                if left >= 0:
                    measure(kind, each)
        worst = _worst(noises.values())
        return OutputLoss(far.name, "integers", worst, sum(map(len, noises.values())), count)

    def _functions(self, far: Distance) -> OutputLoss:
        """All integers, the accelerator's functions in alike nodes alone."""
        nodes: dict[str, list[str]] = {}
        for segment in self.model.segments:
            for op in segment.graph.ops:
                node = segment.node(op.name)
                if _has_function(op) and node not in nodes.setdefault(kind_of_name(node), []):
                    nodes[kind_of_name(node)].append(node)
        base, found = noise_of(far.exact_sqnr_db), list[list[tuple[str, float]]]()
        for number, alike in enumerate(nodes.values()):
            self.tell("the same with some exact functions", number / len(nodes))
            runner = exact(self.model, self.config, but=alike)
            out = run_model(self.model, self.inputs, runner, count=False).outputs[far.name]
            more = self._noise(far, out) - base
            found.append([(node, more / len(alike)) for node in alike])
        count = sum(map(len, nodes.values()))
        return OutputLoss(far.name, "functions", _worst(found, base), count, count)

    def _noise(self, far: Distance, found: Array) -> float:
        """The noise of an output's rows that count, as a share of their signal."""
        real, shown = self.real[far.name], self.rows[far.name].visible
        shown = shown if shown.any() else ~shown
        return noise_of(decibels(real[shown], found[shown]))


def _worst(
    noises: Collection[Sequence[tuple[str, float]]], base: float = 0.0
) -> tuple[OperatorLoss, ...]:
    """The kinds of nodes with the most noise, beside a `base` that all have."""
    total = sum(noise for kind in noises for _, noise in kind) or inf
    found = []
    for kind in noises:
        noise = sum(each for _, each in kind)
        if kind and noise / total >= _NOISE:
            names = dict.fromkeys(name for name, _ in kind)
            found.append(
                OperatorLoss(
                    node=span_name([*names]),
                    nodes=len(names),
                    sqnr_db=decibels_of(noise + base),
                    share=noise / total,
                )
            )
    return tuple(sorted(found, key=lambda each: each.sqnr_db)[:_SHOWN])


def _has_function(op: Op) -> bool:
    finish = getattr(op, "finish", None)
    return isinstance(op, LayerNorm) or isinstance(
        finish, Activation | DeferredSoftmax | DivideBySums | Softmax
    )
