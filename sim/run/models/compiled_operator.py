"""An operator of one's own as a function of NumPy arrays: what `celosia.tensorize` returns."""

import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.sim.devices.devices import open_device
from celosia.sim.run.graph_run import compile_for, run_compiled
from celosia.sim.run.models.shown import function_html
from celosia.sim.run.options.options import RunOptions
from celosia.sim.run.outcome import Outcome
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.expressions import expression_job
from celosia.sw.compiler.fluent import Schedule
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.starts import plain_plan
from celosia.sw.frontend.expressions.nodes import Tensor
from celosia.sw.frontend.expressions.tensorize import TensorOperator, tensorize
from celosia.sw.planning.forms.plan import Plan

__all__ = ["CompiledOperator", "Scheduling", "Tensor", "compile_operator"]

Scheduling = Callable[[Schedule], Schedule]
"""Makes a schedule of one that has decided nothing yet."""


def compile_operator(
    tensor: Tensor, options: RunOptions, schedule: Scheduling | None = None
) -> "CompiledOperator":
    """Match, prove and compile an operator.

    Raises `ExpressionError` for what no intrinsic computes, `PlanError` for a schedule that breaks
    a rule, and `InputError` for what does not fit.
    """
    operator = tensorize(tensor)
    target, job = options.target, expression_job(operator, operator.random(0))
    plan: Plan | None = None
    if schedule is not None:
        plain = plain_plan(operator.graph, target.config)
        plan = schedule(Schedule(plain, operator.graph, target.config)).plan
    else:
        (plan,) = options.plans(job)
    return CompiledOperator(operator, options, plan)


class CompiledOperator:
    """A function of an operator's inputs, which remembers its last call."""

    def __init__(self, operator: TensorOperator, options: RunOptions, plan: Plan | None):
        self.operator = operator
        """The graph, and how tensors become its matrices."""
        self._options = options
        target = options.target
        self._compiled = compile_for(operator.graph, target.config, target.timing, Decide(plan))
        self._outcome: Outcome | None = None

    @property
    def inputs(self) -> dict[str, tuple[str, tuple[int, ...]]]:
        """The type and the shape of each input, in the order of positional arguments."""
        return {each.name: (each.dtype, each.shape) for each in self.operator.inputs}

    def __call__(self, *arrays: ArrayLike, check: bool = True, **named: ArrayLike) -> NDArray[Any]:
        """The result, for inputs in their order or by name.

        Unless `check` is false, every element in memory is compared with the integer graph's.

        Raises `InputError` and `ExpressionError` for inputs that do not fit, and `RuntimeError` if
        the accelerator stops, or an element is another one than the integer graph's.
        """
        self._outcome = None
        job = expression_job(self.operator, self._given(arrays, named))
        watching = "all" if check else "none"
        options = self._options.checking(watching)
        outcome = run_compiled(
            job, self._compiled, options, silent, open_device, time.perf_counter()
        )
        total = outcome.report.total
        if total.failure:
            raise RuntimeError(f"the accelerator stopped: {total.failure.message}")
        if total.mismatches:
            raise RuntimeError(
                f"{total.mismatches:,} of {total.elements_checked:,} elements differ from the "
                "integer graph"
            )
        assert outcome.result is not None
        self._outcome = outcome
        return outcome.result

    @property
    def cycles(self) -> int | None:
        """Cycles of the last call; None on a device without a clock."""
        return self._last().report.total.cycles

    def _repr_html_(self) -> str:
        """The inputs and the last call, as tables for notebooks."""
        return function_html(self.inputs, self._outcome)

    def report(self) -> dict[str, Any]:
        """The last call as ``celosia run --json`` says it (docs/report.schema.json)."""
        return self._last().document()

    def _last(self) -> Outcome:
        if self._outcome is None:
            raise InputError("the operator has not been called, or its last call was refused")
        return self._outcome

    def _given(
        self, arrays: tuple[ArrayLike, ...], named: Mapping[str, ArrayLike]
    ) -> dict[str, NDArray[Any]]:
        """The inputs by name."""
        names = tuple(self.inputs)
        if len(arrays) > len(names):
            raise InputError(f"{len(arrays)} arrays are more than the {len(names)} inputs")
        given = dict(zip(names, arrays, strict=False))
        if twice := given.keys() & named.keys():
            raise InputError(f"{min(twice)}: this input is given twice")
        return {name: np.asarray(value) for name, value in (given | dict(named)).items()}
