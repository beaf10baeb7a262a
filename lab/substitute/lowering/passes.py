"""The passes of a pipeline from a file to commands: each a record of its arguments."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Final

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.lab.substitute.rules import RULES
from celosia.lab.substitute.run_passes import rules_of, run_passes
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress
from celosia.sim.workloads.models.prepare import import_file, other_masks, random_samples
from celosia.sim.workloads.models.samples import read_samples
from celosia.sw.frontend.nn.graph import FloatGraph
from celosia.sw.frontend.recognize.recognize import recognize
from celosia.sw.ir.graph import Graph
from celosia.sw.models.lowering import levels
from celosia.sw.models.lowering.levels import COMMANDS, PLAN, PROGRAM, Lowered
from celosia.sw.models.lowering.print import AnyLevel
from celosia.sw.models.steps import Model
from celosia.sw.quantize.graphs.calibrate import calibrate
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, instantiate
from celosia.sw.quantize.ranges import Clip

__all__ = ["FILE", "PASSES", "LevelPass", "Setting", "State"]

FILE: Final = "a file"
"""The level of a file that is not imported."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What passes know besides their arguments."""

    path: Path
    sizes: Mapping[str, int]
    config: AcceleratorConfig
    tell: Progress


@dataclass(frozen=True, kw_only=True)
class State:
    """How far the file has come."""

    value: AnyLevel | None
    """None: it is not imported."""
    model: Model | None = None
    """What was read with its graph: ranges that the file says; None: a text has none."""
    notes: tuple[str, ...] = ()
    """What the last pass says."""


@dataclass(frozen=True)
class LevelPass(ABC):
    """A pass of a pipeline.  Its fields are the arguments that a text may give."""

    name: ClassVar[str]
    takes: ClassVar[tuple[str, ...]]
    """The levels that it takes."""
    leaves: ClassVar[str | None]
    """The level that it leaves; None: the one that it takes."""

    @abstractmethod
    def apply(self, state: State, setting: Setting) -> State:
        """The state behind it.  Raises `ValueError` for what has no meaning on the next level."""


@dataclass(frozen=True)
class Import(LevelPass):
    """The file as a float graph."""

    name = "import"
    takes = (FILE,)
    leaves = "nn"

    def apply(self, state: State, setting: Setting) -> State:
        """Raises `ImportProblem`, and `EnvironmentProblem` without onnx."""
        model = import_file(setting.path, setting.sizes)
        return State(value=model.imported.graph, model=model, notes=tuple(model.imported.notes))


@dataclass(frozen=True)
class Recognize(LevelPass):
    """Operators of transformers, each proved by numbers."""

    name = "recognize"
    takes = ("nn",)
    leaves = None
    padded: bool = True
    """Masks are padded on the right; else they are added to scores."""

    def apply(self, state: State, setting: Setting) -> State:
        """Raises nothing: a recognizer that fails is left out, with a note."""
        assert isinstance(state.value, FloatGraph)
        found = recognize(state.value, padded=self.padded)
        return replace(state, value=found.graph, notes=tuple(map(str, found.faults)))


@dataclass(frozen=True)
class Quantize(LevelPass):
    """Integer graphs, and what the host does between: formats by samples of the inputs."""

    name = "quantize"
    takes = ("nn",)
    leaves = "cel"
    calibrate: Path | None = None
    """Samples; None: random ones."""
    clip: Clip = "error"
    """Where values of 8 bits are clipped."""
    per_tensor: bool = False
    """Products have one scale."""

    def apply(self, state: State, setting: Setting) -> State:
        """Raises `InputError` for samples that do not fit, or hide other keys than was assumed."""
        graph = state.value
        assert isinstance(graph, FloatGraph)
        notes: tuple[str, ...] = ()
        if self.calibrate is None:
            samples = random_samples(graph, 0)
            notes = ("calibrated on random data: quantize{calibrate=C.npz} has that of real data",)
        else:
            samples = read_samples(self.calibrate, graph)
            if other := other_masks(graph, samples):
                raise InputError(
                    f"{self.calibrate}: {', '.join(other)}: not padded on the right: write "
                    "recognize{padded=false}"
                )
        said = {} if state.model is None else state.model.said
        formats = calibrate(
            lambda _: graph,
            samples,
            lambda what, done, total: setting.tell(f"{what}: {done} of {total}", None),
            said,
            clip=self.clip,
            per_tensor=self.per_tensor,
        )
        model = instantiate(graph, formats)
        if not model.segments:
            raise InputError(f"{setting.path}: nothing of it is for the accelerator")
        value = levels.checked(model, setting.config)
        return replace(state, value=value, notes=(*notes, *model.notes))


@dataclass(frozen=True)
class Decide(LevelPass):
    """A legal plan of each graph: of those that are compared, the one that is predicted fastest."""

    name = "decide"
    takes = ("cel",)
    leaves = PLAN
    latency: int = MemoryTiming.latency
    """Cycles from a read address to its first beat."""
    rate: int = MemoryTiming.bytes_per_cycle
    """Bytes per cycle."""

    def apply(self, state: State, setting: Setting) -> State:
        """Raises `ValueError` that names the operator for what the accelerator cannot do."""
        assert isinstance(state.value, Graph | QuantizedGraph)
        timing = MemoryTiming(latency=self.latency, bytes_per_cycle=self.rate)
        value = levels.decided(state.value, setting.config, timing)
        return replace(state, value=value, notes=())


class _Below(LevelPass):
    """A pass from a level of commands in the making to the next."""

    @staticmethod
    @abstractmethod
    def lower(value: Lowered, /) -> Lowered:
        """What it leaves."""

    def apply(self, state: State, setting: Setting) -> State:
        """Raises `ValueError` for what is not well formed."""
        assert isinstance(state.value, Lowered)
        return replace(state, value=self.lower(state.value), notes=())


@dataclass(frozen=True)
class Expand(_Below):
    """The program of each plan, in order of meaning."""

    name = "expand"
    takes = (PLAN,)
    leaves = PROGRAM
    lower = staticmethod(levels.expanded)


@dataclass(frozen=True)
class Schedule(_Below):
    """The same operations in an order in which units wait less."""

    name = "schedule"
    takes = (PROGRAM,)
    leaves = None
    lower = staticmethod(levels.scheduled)


@dataclass(frozen=True)
class Lower(_Below):
    """The commands of each program, and where its tensors stand."""

    name = "lower"
    takes = (PROGRAM,)
    leaves = COMMANDS
    lower = staticmethod(levels.lowered)


class _Rule(LevelPass):
    """A rule of substitution, on a graph or on the graphs of a model."""

    leaves = None

    def apply(self, state: State, setting: Setting) -> State:
        """Raises nothing: what is not proved is left out, with a note."""
        value, notes = state.value, list[str]()

        def rewritten(graph: FloatGraph | Graph) -> FloatGraph | Graph:
            (rule,) = rules_of([self.name], self.takes[0])
            (done,) = run_passes(graph, [rule], interpret=False)
            notes.append(f"{len(done.replaced)} replaced")
            notes.extend(map(str, done.refusals))
            return done.graph

        if isinstance(value, QuantizedGraph):
            segments = tuple(
                replace(segment, graph=rewritten(segment.graph)) for segment in value.segments
            )
            return replace(state, value=replace(value, segments=segments), notes=tuple(notes))
        assert isinstance(value, FloatGraph | Graph)
        found = rewritten(value)
        return replace(state, value=found, notes=tuple(notes))


def _passes() -> Iterator[type[LevelPass]]:
    yield from (Import, Recognize)
    for name, rule in RULES.items():
        if rule.level.name == "nn":
            yield _rule(name, "nn")
    yield Quantize
    for name, rule in RULES.items():
        if rule.level.name == "cel":
            yield _rule(name, "cel")
    yield from (Decide, Expand, Schedule, Lower)


def _rule(name: str, level: str) -> type[LevelPass]:
    return dataclass(frozen=True)(type(name, (_Rule,), {"name": name, "takes": (level,)}))


PASSES: Final[Mapping[str, type[LevelPass]]] = {each.name: each for each in _passes()}
"""All passes by name, in the order in which they make sense."""
