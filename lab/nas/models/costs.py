"""Cycles and events of models, as sums over their layers: each layer is compiled once.

A layer costs half of what two of it take, one behind the other, by the timeline of their program.
What a model of three middle layers takes beyond these is the width's own: the vocabulary, and what
begins and ends a program.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, Final, TypeVar

import numpy as np

from celosia.lab.nas.models.space import VOCABULARY, Space
from celosia.lab.prune.costs import PREFILL, STEP, Machine
from celosia.lab.sweep.lines import Lines
from celosia.sim.export.silicon.energy.events import memory_events
from celosia.sim.export.silicon.energy.table import EnergyTable
from celosia.sim.run.graph_run import compile_for
from celosia.sim.run.programs.program_work import program_work
from celosia.sim.support.cache import digest
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import Progress
from celosia.sim.support.version import LAYERS, source_version
from celosia.sim.support.workers import Lane, Lost, run_on
from celosia.sw.decoding.step_graph import step_graph
from celosia.sw.decoding.texts import CacheLayout, Text
from celosia.sw.ir.graph import Graph
from celosia.sw.models.decoder_graph import decoder_float_graph
from celosia.sw.models.decoder_shape import DecoderShape
from celosia.sw.quantize.graphs.sketch import sketch
from celosia.sw.reference.encoder import Floats
from celosia.sw.reference.language.shape import LayerShape, LlamaShape

__all__ = [
    "SCENARIOS",
    "Cost",
    "Costs",
    "Piece",
    "costs_of",
    "costs_when_asked",
    "graphs_of",
    "measure",
    "measured_costs",
    "whole",
]

SCENARIOS: Final[Mapping[str, Text]] = {"prefill": PREFILL, "step": STEP}
"""The first 128 tokens of a text at once, and the one behind them."""

_BEYOND: Final = 3
"""Middle layers of the model that tells what a width takes."""


@dataclass(frozen=True)
class Cost:
    """What a program is predicted to take."""

    cycles: float
    events: Mapping[str, float]
    """How often what takes energy happens, by the names of `celosia energy`."""

    def plus(self, other: "Cost", times: float = 1.0) -> "Cost":
        """The sum of this and so many `times` the other."""
        events = {name: count + times * other.events[name] for name, count in self.events.items()}
        return Cost(self.cycles + times * other.cycles, events)

    def pj(self, table: EnergyTable) -> float:
        """Picojoules of what the table knows."""
        entries = ((table.entries.get(name), count) for name, count in self.events.items())
        return sum(entry.pj * count for entry, count in entries if entry and entry.pj is not None)


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Layers of a decoder, with the vocabulary or without, that a machine computes for a text."""

    width: int
    layers: tuple[LayerShape, ...]
    text: Text
    machine: Machine
    with_vocabulary: bool = False
    version: str

    @property
    def key(self) -> str:
        """A digest of all that the cost depends on."""
        return f"cost {digest([repr(asdict(self))])}"


def measure(piece: Piece) -> Cost:
    """Compile a piece, in whatever process.

    Raises `InputError` for what cannot be compiled, `EnvironmentProblem` where other sources are at
    work than those that made the piece.
    """
    if piece.version != source_version(LAYERS):
        raise EnvironmentProblem(
            f"a worker has version {source_version(LAYERS)}, the search is of {piece.version}: "
            "install the same celosia on both (docs/cluster.md)"
        )
    return _predicted(graphs_of(piece), piece.machine)


def graphs_of(piece: Piece) -> Sequence[Graph]:
    """The integer graphs of a piece, whose weights mean nothing."""
    shape = DecoderShape(
        form="llama", width=piece.width, vocabulary=VOCABULARY, layers=piece.layers
    )
    length = STEP.keys
    with_vocabulary = piece.with_vocabulary
    graph = decoder_float_graph(shape, _ones, length, LlamaShape.EPSILON, whole=with_vocabulary)
    return sketch(step_graph(graph, [piece.text], CacheLayout(1, length)).graph)[0]


def _predicted(graphs: Iterable[Graph], machine: Machine) -> Cost:
    """What integer graphs take, one after the other.  Raises `InputError`."""
    total = Cost(0, {})
    for graph in graphs:
        compiled = compile_for(graph, machine.config, machine.timing)
        work = program_work(compiled.program, machine.config)
        events = {
            "mac": work.macs,
            "bus_read_byte": work.read_bytes,
            "bus_write_byte": work.write_bytes,
            **memory_events(compiled.program, machine.config),
        }
        found = Cost(compiled.expected(machine.timing).cycles, events)
        total = total.plus(found) if total.events else found
    return total


def _ones(_name: str, size: tuple[int, ...]) -> Floats:
    """A tensor whose numbers do not matter."""
    return np.ones(size, np.float32)


def whole(model: LlamaShape, scenario: str, machine: Machine) -> Piece:
    """All of a model, as one program."""
    return Piece(
        width=model.width,
        layers=model.layers,
        text=SCENARIOS[scenario],
        machine=machine,
        with_vocabulary=True,
        version=source_version(LAYERS),
    )


@dataclass(frozen=True)
class Costs:
    """What models of a space take, in each scenario."""

    layers: Mapping[tuple[str, int, LayerShape], Cost]
    """By scenario, width and layer."""
    widths: Mapping[tuple[str, int], Cost]
    """What there is beside layers."""

    def of(self, model: LlamaShape, scenario: str) -> Cost:
        """What a model takes."""
        total, *layers = self.parts(model, scenario)
        for layer in layers:
            total = total.plus(layer)
        return total

    def parts(self, model: LlamaShape, scenario: str) -> list[Cost]:
        """What there is beside layers, then each layer."""
        layers = [self.layers[scenario, model.width, layer] for layer in model.layers]
        return [self.widths[scenario, model.width], *layers]


def measured_costs(
    space: Space,
    machine: Machine,
    lines: Lines,
    lanes: Sequence[Lane],
    tell: Progress,
    compute: Callable[[Piece], Cost] = measure,
) -> Costs:
    """The costs of all models of the space; what `lines` hold is not compiled again.

    Raises `InputError` for a layer that cannot be compiled, `EnvironmentProblem` if one ends its
    workers each time.
    """
    layers, wholes = dict(_layer_pieces(space, machine)), dict(_whole_pieces(space, machine))
    known = costs_of([*layers.values(), *wholes.values()], lines, lanes, tell, compute)
    each = {place: _half(known[piece]) for place, piece in layers.items()}
    middle = _middle(space)
    return Costs(
        each,
        {
            (scenario, width): known[piece].plus(each[scenario, width, middle], -_BEYOND)
            for (scenario, width), piece in wholes.items()
        },
    )


_Key = TypeVar("_Key")


class _WhenAsked(dict[_Key, Cost]):
    """Costs that are made when they are asked for."""

    def __init__(self, make: Callable[[_Key], Cost]):
        super().__init__()
        self._make = make

    def __missing__(self, key: _Key) -> Cost:
        self[key] = self._make(key)
        return self[key]


def costs_when_asked(
    space: Space, machine: Machine, lines: Lines, compute: Callable[[Piece], Cost] = measure
) -> Costs:
    """The costs of `measured_costs`, each compiled in this process when a model first needs it.

    `Costs.of` raises `InputError` for a layer that cannot be compiled.
    """

    def cost(piece: Piece) -> Cost:
        if piece.key not in lines.known:
            lines.add({"key": piece.key, "what": _name(piece), **asdict(compute(piece))})
        return _cost(lines.known[piece.key])

    def layer(place: tuple[str, int, LayerShape]) -> Cost:
        return _half(cost(_layer_piece(*place, machine)))

    def width(place: tuple[str, int]) -> Cost:
        beyond = layers[(*place, _middle(space))]
        return cost(_whole_piece(space, *place, machine)).plus(beyond, -_BEYOND)

    layers = _WhenAsked(layer)
    return Costs(layers, _WhenAsked(width))


def _half(cost: Cost) -> Cost:
    """What one of two layers takes."""
    return Cost(0, dict.fromkeys(cost.events, 0)).plus(cost, 0.5)


def costs_of(
    pieces: Sequence[Piece],
    lines: Lines,
    lanes: Sequence[Lane],
    tell: Progress,
    compute: Callable[[Piece], Cost] = measure,
) -> dict[Piece, Cost]:
    """The cost of each piece; what `lines` hold is not compiled again.

    Raises what `measured_costs` raises.
    """
    left = [piece for piece in pieces if piece.key not in lines.known]
    with closing(run_on(lanes, compute, left)) as results:
        for number, (piece, found) in enumerate(results, 1):
            if isinstance(found, Lost):
                raise EnvironmentProblem(
                    f"a worker ended {found.attempts} times when it compiled {_name(piece)}"
                )
            lines.add({"key": piece.key, "what": _name(piece), **asdict(found)})
            tell(f"compiled {number} of {len(left)} programs", number / len(left))
    return {piece: _cost(lines.known[piece.key]) for piece in pieces}


def _layer_pieces(
    space: Space, machine: Machine
) -> Iterator[tuple[tuple[str, int, LayerShape], Piece]]:
    for place in product(SCENARIOS, space.widths, space.layers):
        yield place, _layer_piece(*place, machine)


def _layer_piece(scenario: str, width: int, layer: LayerShape, machine: Machine) -> Piece:
    """Two layers that are alike."""
    return Piece(
        width=width,
        layers=(layer, layer),
        text=SCENARIOS[scenario],
        machine=machine,
        version=source_version(LAYERS),
    )


def _whole_pieces(space: Space, machine: Machine) -> Iterator[tuple[tuple[str, int], Piece]]:
    for place in product(SCENARIOS, space.widths):
        yield place, _whole_piece(space, *place, machine)


def _whole_piece(space: Space, scenario: str, width: int, machine: Machine) -> Piece:
    """A model of middle layers."""
    return whole(space.model(width, (_middle(space),) * _BEYOND), scenario, machine)


def _middle(space: Space) -> LayerShape:
    return space.layers[len(space.layers) // 2]


def _name(piece: Piece) -> str:
    sizes = ", ".join(f"{layer.heads} heads, {layer.hidden} channels" for layer in piece.layers[:1])
    what = f"{len(piece.layers)} layers of {piece.width} with {sizes}"
    return f"{what}{' and the vocabulary' if piece.with_vocabulary else ''}, {piece.text.rows} rows"


def _cost(line: Mapping[str, Any]) -> Cost:
    return Cost(line["cycles"], line["events"])
