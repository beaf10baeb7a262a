"""Words of a workload, as `celosia plan` takes them, for commands that get them as text."""

from collections.abc import Sequence
from typing import Any, Final

import typer
from typer.exceptions import TyperException

from celosia.isa.config import AcceleratorConfig
from celosia.isa.memory import MemoryTiming
from celosia.isa.presets import resolve_config
from celosia.sim.command.options.spelling import plain_message
from celosia.sim.command.plan_command import plan
from celosia.sim.run.run import RunOptions
from celosia.sim.support.problems import InputError
from celosia.sim.workloads.workload_options import workload_options
from celosia.sim.workloads.workloads import PROGRAM_SUFFIX, check_options

__all__ = ["FLAGS", "options_of"]

_FILES: Final = ("a", "b", "bias", "out")
_NOT_TAKEN: Final = ("json", "output")
"""Options of `celosia plan` that do not say what is computed."""


def _command() -> Any:
    app = typer.Typer(add_completion=False)
    app.command()(plan)
    return typer.main.get_command(app)


_COMMAND: Final = _command()
FLAGS: Final = {
    flag.removeprefix("--").replace("-", "_"): flag
    for option in _COMMAND.params
    if not getattr(option, "is_flag", False)
    for flag in option.opts
    if flag.startswith("--") and flag.removeprefix("--") not in (*_FILES, *_NOT_TAKEN, "set")
}
"""Options with a value, as they are called in a file and on the command line."""


def options_of(words: Sequence[str]) -> tuple[RunOptions, AcceleratorConfig]:
    """The run that the words describe, and its configuration.

    Raises `ConfigError` for a configuration that cannot be, and `InputError` for all else that is
    wrong, programs and files among it: workers on other machines do not have them.
    """
    try:
        values = _COMMAND.make_context("celosia", list(words)).params
    except TyperException as error:
        raise InputError(plain_message(error.format_message())) from None
    workload, details = values["workload"], workload_options(values)
    if workload.endswith(PROGRAM_SUFFIX):
        raise InputError(f"{workload}: a program is compiled already")
    check_options(workload, details)
    for name in _NOT_TAKEN:
        if values[name] is not None:
            raise InputError(f"--{name} {values[name]}: celosia plan has this option, not here")
    for name in _FILES:
        if getattr(details, name) is not None:
            raise InputError(f"--{name}: files of operands are not taken here")
    if details.model is not None and "." in details.model:
        raise InputError(f"--model {details.model}: files of models are not taken here")
    timing = MemoryTiming(
        latency=values["latency"],
        bytes_per_cycle=values["rate"],
        stall_percent=values["stalls"],
        seed=values["seed"],
    )
    config = resolve_config(values["preset"] or "base", values["overrides"] or ())
    options = RunOptions(
        workload=workload,
        timing=timing,
        details=details,
        command_line=("celosia", "run", *words),
    )
    return options, config
