"""A file through a pipeline, as `celosia opt` prints it: what each pass leaves, and its text."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import typer

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import resolve_config
from celosia.lab.graphs.rewritable import REWRITABLE, SMALL
from celosia.lab.substitute.graph_texts import level_of, read_graph_file, text_of
from celosia.lab.substitute.lowering.passes import FILE, LevelPass, Quantize, Setting, State
from celosia.lab.substitute.lowering.pipeline import check_levels, parse_pipeline
from celosia.lab.substitute.lowering.run_pipeline import Step, run_pipeline
from celosia.sim.support.display import progress_bar
from celosia.sim.support.extras import import_extra
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import Progress, silent
from celosia.sim.workloads.models.samples import input_types, read_arrays
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.frontend.nn.operators.operator import Array
from celosia.sw.models.lowering.levels import Lowered
from celosia.sw.models.lowering.print import AnyLevel

__all__ = ["NAMED", "ONNX", "Asked", "follow_pipeline"]

NAMED: Final = {**REWRITABLE, **SMALL}
"""Graphs that come with Celosia."""
ONNX: Final = ".onnx"
"""What the name of a file ends with that is imported."""


@dataclass(frozen=True)
class Asked:
    """What a pipeline begins with."""

    file: str
    sizes: Mapping[str, int]
    config: AcceleratorConfig | None
    """None: nobody has said."""
    inputs: Path | None


def follow_pipeline(
    asked: Asked, pipeline: str, *, text: bool, interpret: bool
) -> tuple[AnyLevel, bool]:
    """What a pipeline leaves, and whether a level of it reads back or means something else.

    Each pass is a comment on standard output; its `text` follows.  Raises `InputError` for what a
    pass refuses, before the first one for all that is known by then.
    """
    passes, path = _ordered(pipeline), Path(asked.file)
    state = _begin(asked)
    level = FILE if state.value is None else level_of(state.value)
    try:
        check_levels(passes, level, asked.file)
    except ValueError as error:
        raise InputError(f"--pipeline: {error}") from None
    if asked.config is not None and isinstance(state.value, Lowered):
        raise InputError(f"--preset, --set: {asked.file} is of {level}, and says what it is for")
    if interpret:
        import_extra("celosia.sw.models.dialects.levels", "compiler")
    given = _first_sample(passes) if asked.inputs is None else read_arrays(asked.inputs)
    teller = _Teller()
    setting = Setting(
        path=path,
        sizes=asked.sizes,
        config=asked.config or resolve_config("base", ()),
        tell=teller.tell,
    )
    steps = run_pipeline(passes, state, setting, interpret=interpret, inputs=given)
    value, wrong = state.value, False
    while (step := teller.next(steps, asked.file)) is not None:
        value, wrong = step.value, wrong or step.wrong
        typer.echo(f"// {step.name}: {step.summary}")
        for line in (*step.notes, *step.found):
            typer.echo(f"//   {line}")
        if text:
            typer.echo(text_of(step.value), nl=False)
    assert value is not None
    return value, wrong


def _first_sample(passes: Iterable[LevelPass]) -> dict[str, Array] | None:
    """The first sample of those that a pass is given whose masks show all; None: there is none."""
    files = [each.calibrate for each in passes if isinstance(each, Quantize) and each.calibrate]
    for arrays in map(read_arrays, files):
        masks = [array for name, array in arrays.items() if "mask" in name]
        for number in range(min(map(len, arrays.values()))):
            if all((mask[number] == 1).all() for mask in masks):
                return {name: array[number] for name, array in arrays.items()}
    return None


def _ordered(text: str) -> tuple[LevelPass, ...]:
    """The passes of a pipeline.  Raises `InputError`, also for files that they name."""
    try:
        passes = parse_pipeline(text)
    except ValueError as error:
        raise InputError(f"--pipeline: {error}") from None
    for each in passes:
        for given in vars(each).values():
            if isinstance(given, Path):
                input_types(given)
    return passes


def _begin(asked: Asked) -> State:
    """The state before the first pass.  Raises `InputError` for a text that is none."""
    path = Path(asked.file)
    if path.suffix == ONNX:
        return State(value=None)
    if asked.sizes:
        raise InputError(f"--dim: only for an .onnx, not {path}")
    return State(value=NAMED[asked.file]() if asked.file in NAMED else read_graph_file(path))


class _Teller:
    """Shows how far a step is, and nothing between two steps: there their texts are printed."""

    def __init__(self):
        self._tell: Progress = silent

    def tell(self, text: str, share: float | None) -> None:
        """What is done now."""
        self._tell(text, share)

    def next(self, steps: Iterator[Step], file: str) -> Step | None:
        """The next step; None: there is none.  Raises `InputError` for what a pass refuses."""
        try:
            with progress_bar() as self._tell:
                return next(steps, None)
        except (InputError, ImportProblem):
            raise
        except ValueError as error:
            raise InputError(f"{file}: {error}") from None
        finally:
            self._tell = silent
