"""Whether a random model computes here what another runtime does, as floats and as integers."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

import numpy as np
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from celosia.lab.fuzz.findings import Plan
from celosia.lab.fuzz.models.random_model import RandomModel
from celosia.sim.run.models.model_checks import checked_run
from celosia.sim.run.models.model_run import ModelRunner
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.models.prepare import ModelRun, prepare
from celosia.sw.frontend.nn.interpret import interpret
from celosia.sw.models.steps import Import, Recognize, follow
from celosia.sw.rewriting.mistakes import MISTAKE, told

__all__ = ["difference", "expected"]

Arrays = Mapping[str, np.ndarray[Any, np.dtype[Any]]]

_RELATIVE: Final = 1e-4
"""The largest difference of floats, relative to the largest element of an output."""
_ABSOLUTE: Final = 1e-5
_LOST: Final = 0.5
"""Integers that lose half of an output are those of another one."""
_SMALL: Final = 1e-3
"""Errors that are smaller are rounding."""
_SAMPLES: Final = 8
"""Samples whose outputs tell how large they are."""
_NOTHING: Final = "nothing of it is for the accelerator"


def expected(proto: ModelProto, samples: Iterable[Arrays]) -> list[Arrays]:
    """What ONNX Runtime makes of each sample, or without it onnx's reference evaluator."""
    names = [value.name for value in proto.graph.output]
    if find_spec("onnxruntime"):
        runtime = import_module("onnxruntime")
        options = runtime.SessionOptions()
        options.log_severity_level, options.intra_op_num_threads = 3, 1
        # Else processors without VNNI saturate sums of two products of integers to 16 bits.
        options.add_session_config_entry("session.x64quantprecision", "1")
        run = runtime.InferenceSession(proto.SerializeToString(), options).run
    else:
        run = ReferenceEvaluator(proto).run
    found: list[Arrays] = []
    for each in samples:
        values = map(np.asarray, run(names, dict(each)))
        found.append(dict(zip(names, values, strict=True)))
    return found


def difference(model: RandomModel, plan: Plan) -> str:
    """What is wrong with a model on the plan's device; an empty text if nothing is."""
    samples = [{name: each[i] for name, each in model.calibration.items()} for i in range(_SAMPLES)]
    wanted = expected(model.proto, [model.inputs, *samples])
    with tempfile.TemporaryDirectory(prefix="celosia-fuzz-") as folder:
        path = Path(folder) / "model.onnx"
        path.write_bytes(model.proto.SerializeToString())
        try:
            return next(_found(path, model, plan, wanted), "")
        except Exception as error:
            return f"it raises {told(error)}"


def _found(path: Path, model: RandomModel, plan: Plan, wanted: Sequence[Arrays]) -> Iterator[str]:
    known = follow(Import(path), Recognize())
    recognized = known.recognized
    yield from recognized.faults
    for what, each in (("imported", known.imported.graph), ("recognized", recognized.graph)):
        found = interpret(each, model.inputs)
        yield from (f"{what}: {why}" for why in _floats(wanted[0], found))
    options = RunOptions(
        workload=path.name,
        target=Target(simulator=plan.simulator, preset=plan.preset, overrides=plan.overrides),
    )
    try:
        prepared = prepare(ModelRun(path, {}, model.calibration), 0)
    except InputError as error:
        if _NOTHING in str(error):
            return
        raise
    yield from (note for note in prepared.notes if MISTAKE in note)
    found, outcome = checked_run(ModelRunner(prepared, options), model.inputs)
    if not outcome.right:
        yield f"{outcome.report.total.mismatches} elements differ from the integer graph"
    yield from (f"quantized: {why}" for why in _integers(wanted, found))


def _floats(wanted: Arrays, found: Arrays) -> Iterator[str]:
    for name, value in wanted.items():
        yield from _shape(name, value, found[name])
        limit = _RELATIVE * np.abs(value).max(initial=0) + _ABSOLUTE
        error = np.abs(value - found[name]).max(initial=0)
        if np.isfinite(value).all() and not error <= limit:
            yield f"{name} differs by {error:.2g} of up to {np.abs(value).max():.2g}"


def _integers(wanted: Sequence[Arrays], found: Arrays) -> Iterator[str]:
    for name, value in wanted[0].items():
        yield from _shape(name, value, found[name])
        # A single output may be next to nothing: what others are tells how large an error is.
        usual, error = _size([each[name] for each in wanted]), _size(value - found[name])
        if np.isfinite(usual) and not error <= _LOST * usual + _SMALL:
            yield f"{name} differs by {error:.2g}, where outputs are of {usual:.2g}"


def _size(numbers: Any) -> float:
    """The root of the mean square."""
    return float(np.sqrt(np.mean(np.square(np.asarray(numbers, np.float64)))))


def _shape(name: str, value: Any, found: Any) -> Iterator[str]:
    if value.shape != found.shape or value.dtype != found.dtype:
        yield f"{name} is {found.dtype}{found.shape}, not {value.dtype}{value.shape}"
