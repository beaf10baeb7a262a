"""A model that is ready to compile: a graph for each segment, with what it is run on."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.per_tensor import check_unit
from celosia.sim.workloads.models.prepare import Prepared
from celosia.sim.workloads.models.samples import read_inputs
from celosia.sw.compiler.saved_program import SavedProgram
from celosia.sw.frontend.nn.operators.operator import Array, GraphError
from celosia.sw.frontend.nn.random_inputs import random_inputs
from celosia.sw.ir.graph import Graph
from celosia.sw.ir.graph_interpret import interpret
from celosia.sw.models.cases import Case
from celosia.sw.passes.short_scales import short_scales
from celosia.sw.planning.forms.plan import Plan
from celosia.sw.planning.rules.verify import PlanError, verify_plan
from celosia.sw.quantize.graphs.quantized import Execution

__all__ = ["ModelJob", "model_job"]


@dataclass(frozen=True, eq=False)
class ModelJob:
    """A model, which is as many programs as it has segments, and its inputs."""

    name: str
    """What messages call it."""
    prepared: Prepared
    given: Mapping[str, Array] | None
    """The inputs; None: a saved model cannot draw any."""
    hardware: tuple[AcceleratorConfig, MemoryTiming]
    """What it is for: scales are as short as that takes them."""
    notes: tuple[str, ...] = ()
    """What is to be said of the inputs, and of plans that are for something else."""

    @property
    def inputs(self) -> Mapping[str, Array]:
        """The inputs.  Raises `InputError` if there are none."""
        if self.given is None:
            raise InputError(f"{self.name}: give --input: a plan is run on inputs of your own")
        return self.given

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """Each segment for the masks of the inputs, with its own inputs by the integer graphs.

        Raises `InputError` for inputs that do not fit, or none.
        """
        try:
            return tuple(self._cases())
        except GraphError as error:
            raise InputError(f"{self.name}: {error}") from None

    def _cases(self) -> Iterator[Case]:
        """Segment by segment.  Raises `GraphError` for inputs that do not fit."""
        model = self.prepared.model
        execution = Execution(model, self.inputs, count=False)
        for number in range(len(model.segments)):
            graph, inputs = execution.begin(number)
            yield Case(graph, inputs)
            if number + 1 < len(model.segments):
                execution.end(
                    number, graph, interpret(short_scales(graph, self.hardware[0]), inputs)
                )

    @property
    def graphs(self) -> tuple[Graph, ...]:
        """The segments for the masks of the inputs; without inputs, such as see all keys.

        Raises `InputError` for inputs that do not fit.
        """
        if self.given is None:
            return tuple(segment.graph for segment in self.prepared.model.segments)
        return tuple(case.graph for case in self.cases)

    def program(self, number: int, graph: Graph, plan: Plan | None) -> SavedProgram | None:
        """What was compiled of a segment by `plan`; None: other hardware or masks compile anew."""
        prepared = self.prepared
        decided, segments = prepared.decided, prepared.model.segments
        if decided is None or not decided.programs or decided.difference(*self.hardware):
            return None
        found = decided.programs[number]
        same = graph.ops == segments[number].graph.ops
        return found if same and plan == found.plan else None

    @property
    def plans(self) -> tuple[Plan | None, ...]:
        """What a saved model has decided for `graphs`; None: other hardware or masks decide anew.

        Raises `InputError` that names the rule that a saved plan breaks.
        """
        decided, segments = self.prepared.decided, self.prepared.model.segments
        if decided is None or decided.difference(*self.hardware):
            return (None,) * len(segments)
        found = zip(segments, self.graphs, decided.plans, strict=True)
        try:
            return tuple(
                verify_plan(plan, graph, self.hardware[0]) if graph.ops == each.graph.ops else None
                for each, graph, plan in found
            )
        except PlanError as error:
            raise InputError(f"{self.name}: its plan: {error}") from None


def model_job(
    name: str,
    prepared: Prepared,
    inputs: Path | None,
    hardware: tuple[AcceleratorConfig, MemoryTiming],
) -> ModelJob:
    """A model on the inputs in a file, or on random ones.

    Raises `InputError`, also for a node that needs a unit which the hardware does not have.
    """
    check_unit(name, prepared.model, hardware[0])
    notes = ()
    if (decided := prepared.decided) and (difference := decided.difference(*hardware)):
        notes = (f"planned anew: what is saved was decided for {difference}",)
    elif decided and decided.outdated:
        notes = ("compiled anew: its programs are of another version of the compiler",)
    if inputs is not None:
        return ModelJob(name, prepared, read_inputs(inputs, prepared.model, name), hardware, notes)
    if prepared.graph is None:
        return ModelJob(name, prepared, None, hardware, notes)
    masks = [each for each in prepared.graph.inputs if "mask" in each]
    given = random_inputs(prepared.graph, [*masks, *prepared.model.masks], hardware[1].seed)
    note = "run on random data: give --input for an input of your own"
    return ModelJob(name, prepared, given, hardware, (*notes, note))
