"""The table of contents of a model: from a file to integer graphs, step by step.

What is behind is that of a graph, `celosia.sw.compiler.pipeline`: `compile_graph` for each segment,
when the masks of an input are known.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.frontend.recognize.recognize import Recognized, recognize
from celosia.sw.frontend.said_ranges import said_ranges
from celosia.sw.quantize.graphs.calibrate import calibrate_each
from celosia.sw.quantize.graphs.formats import Formats
from celosia.sw.quantize.graphs.quantized import QuantizedGraph, instantiate
from celosia.sw.quantize.ranges import Clip
from celosia.sw.quantize.weight_types import INT8_WEIGHTS, WeightTypes

if TYPE_CHECKING:
    from celosia.sw.frontend.importer.import_model import Imported

__all__ = ["STEPS", "Calibrate", "Import", "Instantiate", "Model", "Recognize", "Step", "follow"]


@dataclass(frozen=True, eq=False, kw_only=True)
class Model:
    """A model, and as much of it as the steps so far have made."""

    made: Mapping[str, Any] = field(default_factory=dict)
    """What each step has left, by the step's name."""

    @classmethod
    def of(cls, recognized: Recognized) -> "Model":
        """A model that no file has, behind `Recognize`."""
        return cls(made={Recognize.name: recognized})

    @property
    def imported(self) -> "Imported":
        """The float graph of the file, and what was read with it."""
        return self.made[Import.name]

    @property
    def recognized(self) -> Recognized:
        """The float graph in operators of transformers."""
        return self.made[Recognize.name]

    @property
    def said(self) -> Mapping[str, tuple[float, float]]:
        """The ranges that the file says its tensors have; none without a file."""
        if Import.name not in self.made:
            return {}
        return said_ranges(self.imported.graph, self.imported.ranges)

    @property
    def formats(self) -> Formats:
        """How numbers of each tensor become integers, whatever the sizes of inputs."""
        return self.made[Calibrate.name]

    @property
    def quantized(self) -> QuantizedGraph:
        """Segments of integers, and what the host does between them."""
        return self.made[Instantiate.name]

    def with_made(self, step: type["Step"], left: object) -> "Model":
        """The model as if this step had `left` that."""
        return Model(made={**self.made, step.name: left})


@dataclass(frozen=True)
class Step(ABC):
    """A step on a model's way.  Its fields are its arguments."""

    name: ClassVar[str]
    """What documents call it."""

    @abstractmethod
    def make(self, model: Model) -> Any:
        """What is left for the steps behind it.  Raises `ValueError` for what has no meaning."""

    def apply(self, model: Model) -> Model:
        """`model` with what this step makes."""
        return model.with_made(type(self), self.make(model))


@dataclass(frozen=True)
class Import(Step):
    """The file as a float graph, with its sizes bound and some inputs fixed to a number.

    Files `beside` it are in the same graph, with names that begin with their file's.
    """

    name = "import"
    path: Path
    sizes: Mapping[str, int] = field(default_factory=dict)
    fixed: Mapping[str, str] = field(default_factory=dict)
    beside: Sequence[Path] = ()

    def make(self, model: Model) -> "Imported":
        """Raises `ImportProblem`, a `ValueError`, and `ImportError` without onnx."""
        importer = import_module("celosia.sw.frontend.importer.import_model")
        return importer.import_model(self.path, self.sizes, self.fixed, self.beside)


@dataclass(frozen=True)
class Recognize(Step):
    """The operators of transformers in it, each proved by numbers."""

    name = "recognize"
    padded: bool = True
    """Masks are padded on the right; else they are added to scores."""

    def make(self, model: Model) -> Recognized:
        """Raises nothing: a recognizer that fails is left out, with a note."""
        return recognize(model.imported.graph, padded=self.padded)


@dataclass(frozen=True)
class Calibrate(Step):
    """Formats of all tensors that become integers, by samples of the inputs."""

    name = "calibrate"
    samples: Sequence[Mapping[str, Array]]
    clip: Clip = "error"
    progress: Callable[[str, int, int], object] = lambda what, done, total: None
    per_tensor: bool = False
    """Products have one scale, and the host computes what stores do not finish."""
    weights: WeightTypes = INT8_WEIGHTS
    wide: bool = False
    """There are formats of operands that products may read as int16."""

    def make(self, model: Model) -> Formats:
        """Raises `GraphError`, a `ValueError`, for samples that do not fit."""
        (found,) = self.make_each(model, (self.weights,))
        return found

    def make_each(self, model: Model, weights: Sequence[WeightTypes]) -> tuple[Formats, ...]:
        """Formats for each of some types of weights, between which only products differ.

        Raises as `make` does.
        """
        graph = model.recognized.graph
        return calibrate_each(
            lambda _: graph,
            self.samples,
            self.progress,
            model.said,
            clip=self.clip,
            per_tensor=self.per_tensor,
            weights=weights,
            wide=self.wide,
        )


@dataclass(frozen=True)
class Instantiate(Step):
    """Integer graphs of these sizes."""

    name = "instantiate"

    def make(self, model: Model) -> QuantizedGraph:
        """Raises `GraphError`, a `ValueError`, that names what does not fit its integers."""
        return instantiate(model.recognized.graph, model.formats)


STEPS: Final[tuple[type[Step], ...]] = (Import, Recognize, Calibrate, Instantiate)
"""All steps in order."""


def follow(*steps: Step, model: Model | None = None) -> Model:
    """`model` behind these steps; without one, the first of them imports it.

    Raises what the steps do.
    """
    found = model or Model()
    for each in steps:
        found = each.apply(found)
    return found
