"""Words of a workload, as `celosia plan` takes them, for commands that get them as text."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Final

import typer
from typer.exceptions import TyperException

from celosia.isa.config import AcceleratorConfig
from celosia.sim.command.options.groups import Group, arguments_of, grouped
from celosia.sim.command.options.run_options import Asked, asked, planned_target
from celosia.sim.command.options.spelling import plain_message
from celosia.sim.run.options.options import RunOptions, Target, Told
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import HeldModel
from celosia.sim.workloads.held import held
from celosia.sim.workloads.workloads import PROGRAM_SUFFIX, is_model

__all__ = ["FLAGS", "Models", "carried", "options_of"]

_FILES: Final = ("a", "b", "bias")
"""Options whose files are of operands."""
_MODEL_FILES: Final = ("beside", "calibrate", "input")


def _words(
    *, asked: Annotated[Asked, Group(asked)], target: Annotated[Target, Group(planned_target)]
) -> None:
    """What words say."""


def _command() -> Any:
    app = typer.Typer(add_completion=False)
    app.command()(grouped(_words))
    return typer.main.get_command(app)


_COMMAND: Final = _command()
FLAGS: Final = {
    flag.removeprefix("--").replace("-", "_"): flag
    for option in _COMMAND.params
    if not getattr(option, "is_flag", False)
    for flag in option.opts
    if flag.startswith("--") and flag.removeprefix("--") not in (*_FILES, *_MODEL_FILES, "set")
}
"""Options with a value, as they are called in a file and on the command line."""


Models = dict[Any, HeldModel]
"""Models that were read, by all that they depend on."""


def carried(options: RunOptions, models: Models) -> RunOptions:
    """`options` for workers that have no files: a model is a part of them.

    Models that were read once are in `models`.  Raises `InputError`.
    """
    if not is_model(options.workload):
        return options
    key = options.workload, options.details, options.target.timing.seed
    if key not in models:
        models[key] = held(options.workload, options.details, options.target.hardware, silent)
    return replace(options, details=models[key])


def options_of(words: Sequence[str]) -> tuple[RunOptions, AcceleratorConfig]:
    """The run that the words describe, and its configuration.

    Raises `ConfigError` for a configuration that cannot be, and `InputError` for all else that is
    wrong, programs and files of operands among it: workers on other machines do not have them.
    """
    try:
        values = _COMMAND.make_context("celosia", list(words)).params
    except TyperException as error:
        raise InputError(plain_message(error.format_message())) from None
    found = arguments_of(_words, values)
    work, target = found["asked"], found["target"]
    config = target.config
    if work.workload.endswith(PROGRAM_SUFFIX):
        raise InputError(f"{work.workload}: a program is compiled already")
    details = work.details()
    for name in _FILES:
        if name in work.options:
            raise InputError(f"--{name}: files of operands are not taken here")
    model = work.options.get("model")
    if model is not None and "." in model:
        raise InputError(f"--model {model}: files of models are not taken here")
    options = RunOptions(
        workload=work.workload,
        details=details,
        target=Target(timing=target.timing).on(config),
        told=Told(command_line=("celosia", "run", *words)),
    )
    return options, config
