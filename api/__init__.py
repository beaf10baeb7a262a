"""What `import celosia` gives: a model of another tool as a function, computed by the accelerator.

The layers are packages of their own: `celosia.isa`, `celosia.hw`, `celosia.sw` and `celosia.sim`.
Nothing of them is imported before it is asked for.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.sim.run.models.compiled_model import CompiledModel

__all__ = ["compile"]


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
