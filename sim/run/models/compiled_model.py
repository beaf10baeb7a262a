"""A model of another tool as a function of NumPy arrays: what `celosia.compile` returns."""

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike, NDArray

from celosia.sim.run.models.model_checks import checked_run
from celosia.sim.run.models.model_outcome import ModelOutcome
from celosia.sim.run.models.model_run import ModelRunner
from celosia.sim.run.models.shown import function_html
from celosia.sim.run.options.options import RunOptions
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.per_tensor import check_unit
from celosia.sim.workloads.models.prepare import ModelRun, Prepared, prepare

__all__ = ["CompiledModel", "compile_model"]


def compile_model(job: ModelRun, options: RunOptions) -> "CompiledModel":
    """Import and quantize a model.  Raises `InputError` and `ImportProblem`."""
    prepared = prepare(job, options.target.timing.seed)
    check_unit(job.path.name, prepared.model, options.target.config)
    return CompiledModel(prepared, options)


class CompiledModel:
    """A function of a model's inputs, which remembers its last call."""

    def __init__(self, prepared: Prepared, options: RunOptions):
        self._prepared = prepared
        self._runner = ModelRunner(prepared, options)
        self._outcome: ModelOutcome | None = None

    @property
    def inputs(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The type and the shape of each input, in the order of positional arguments."""
        kinds = self._prepared.model.inputs
        return {name: (kind.dtype, kind.shape) for name, kind in kinds.items()}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the outputs."""
        return tuple(self._prepared.model.outputs)

    def __call__(
        self,
        *arrays: ArrayLike | Mapping[str, ArrayLike],
        check: bool = True,
        **named: ArrayLike,
    ) -> dict[str, NDArray[Any]]:
        """The outputs by name, for inputs in their order or by name, or for one mapping of them.

        Unless `check` is false, every tensor is compared with the integer graph's, and outputs with
        the float graph's.

        Raises `InputError` for inputs that do not fit, and `RuntimeError` if the accelerator stops,
        or an element is another one than the integer graph's.
        """
        given = self._given(arrays, named)
        self._outcome = None
        outputs, outcome = checked_run(self._runner, given, "all" if check else "none")
        self._outcome = outcome
        if not outcome.right:
            total = outcome.report.total
            raise RuntimeError(
                f"the accelerator stopped: {total.failure.message}"
                if total.failure
                else f"{total.mismatches or 0:,} of {total.elements_checked:,} elements differ "
                "from the integer graph"
            )
        return outputs

    @property
    def cycles(self) -> int | None:
        """Cycles of the last call, all segments together; None on a device without a clock."""
        return self._last().report.total.cycles

    def _repr_html_(self) -> str:
        """The inputs and the last call, as tables for notebooks."""
        return function_html(self.inputs, self._outcome)

    def report(self) -> dict[str, Any]:
        """The last call as ``celosia run --json`` says it (docs/report.schema.json)."""
        return self._last().document()

    def _last(self) -> ModelOutcome:
        if self._outcome is None:
            raise InputError("the model has not been called, or its last call was refused")
        return self._outcome

    def _given(self, arrays: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """The inputs by name."""
        if len(arrays) == 1 and isinstance(arrays[0], Mapping):
            return {**arrays[0], **named}
        names = tuple(self._prepared.model.inputs)
        if len(arrays) > len(names):
            raise InputError(f"{len(arrays)} arrays are more than the {len(names)} inputs")
        given = dict(zip(names, arrays, strict=False))
        twice = given.keys() & named.keys()
        if twice:
            raise InputError(f"{min(twice)}: this input is given twice")
        return given | dict(named)
