"""What `import celosia` gives: models of other tools and operators of one's own as functions.

The layers are packages of their own: `celosia.isa`, `celosia.hw`, `celosia.sw` and `celosia.sim`.
Nothing of them is imported before it is asked for.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.sim.run.models.compiled_model import CompiledModel
    from celosia.sim.run.models.compiled_operator import CompiledOperator, Scheduling, Tensor

__all__ = ["compile", "tensorize"]


def compile(
    model: str | Path,
    *,
    preset: str = "base",
    overrides: Sequence[str] = (),
    calibration: "str | Path | Mapping[str, NDArray[Any]] | None" = None,
    sizes: Mapping[str, int] | None = None,
    set_input: Mapping[str, float] | None = None,
    per_tensor: bool = False,
    simulator: str = "verilator",
) -> "CompiledModel":
    """An ONNX file, quantized for a configuration: a function of NumPy arrays, run on a device.

    `calibration` is an .npz file, or arrays by the names of the model's inputs, with one axis of
    samples before the shape of the input; None: random samples, which `report` says.  `sizes` binds
    what the file leaves open, by the names of sizes or as ``input.axis``; `set_input` makes inputs
    constants, with one number in all of their elements.  `per_tensor`, products have one scale, as
    an accelerator without a normalization unit needs them; `report` says what that costs.  `preset`
    is a name or a .toml file, `overrides` change its parameters, each as ``key=value``; `simulator`
    is ``verilator``, ``amaranth`` or ``functional``.

    Raises `ValueError` for what cannot be compiled, with the node, the rule and the place.
    """
    from celosia.sim.run.models.compiled_model import compile_model
    from celosia.sim.run.options.options import RunOptions, Target
    from celosia.sim.workloads.models.prepare import ModelRun

    target = Target(simulator=simulator, preset=preset, overrides=tuple(overrides))
    options = RunOptions(workload=str(model), target=target)
    found = Path(calibration) if isinstance(calibration, str) else calibration
    fixed = {name: str(number) for name, number in (set_input or {}).items()}
    job = ModelRun(
        path=Path(model),
        sizes=sizes or {},
        calibration=found,
        per_tensor=per_tensor,
        fixed=fixed,
    )
    return compile_model(job, options)


def tensorize(
    result: "Tensor",
    *,
    preset: str = "base",
    overrides: Sequence[str] = (),
    schedule: "str | Path | Scheduling | None" = None,
    tuned: str | Path | None = None,
    simulator: str = "verilator",
) -> "CompiledOperator":
    """An operator of one's own, as an expression: a function of NumPy arrays, run on a device.

    `result` is a tensor of `celosia.sw.frontend.expressions.language.compute`
    (docs/tensor-expressions.md).  `schedule` is a file of primitives, or a function from a
    `celosia.sw.compiler.fluent.Schedule` without decisions to another one; `tuned` is a log of
    ``celosia tune``; without both, the compiler decides.  `preset`, `overrides` and `simulator` are
    those of `compile`.

    Raises `ValueError` for what no intrinsic computes, with what is missing, and for a schedule
    that breaks a rule.
    """
    from celosia.sim.run.models.compiled_operator import compile_operator
    from celosia.sim.run.options.given_plans import GivenPlan
    from celosia.sim.run.options.options import Compiling, RunOptions, Target

    target = Target(simulator=simulator, preset=preset, overrides=tuple(overrides))
    function = schedule if callable(schedule) else None
    given = GivenPlan(
        schedule=None if schedule is None or function else str(schedule),
        tuned=None if tuned is None else str(tuned),
    )
    compiling = Compiling(given=given)
    options = RunOptions(workload=result.name, target=target, compiling=compiling)
    return compile_operator(result, options, function)
