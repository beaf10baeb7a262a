"""Errors as messages and exit codes, never as tracebacks; that of an unforeseen one is saved."""

import errno
import functools
import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final, NoReturn, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from celosia.isa.config import ConfigError
from celosia.sim.support.cache import cache_directory
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from celosia.sw.driver.program_file import ProgramError
from celosia.sw.frontend.importer.source.problems import ImportProblem
from celosia.sw.rewriting.mistakes import MISTAKE, told

__all__ = ["BAD_INPUT", "INTERRUPTED", "WRONG", "guarded", "run_guarded"]

WRONG: Final = 1
"""Exit code: a wrong result, an accelerator that stopped, a number below its bound."""
BAD_INPUT: Final = 2
"""Exit code: bad input, or something is missing or full."""
INTERRUPTED: Final = 130
"""Exit code: Ctrl-C or SIGTERM."""

_EXPECTED: Final = (
    ConfigError,
    EnvironmentProblem,
    ImportProblem,
    InputError,
    OSError,
    ProgramError,
)

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def guarded(command: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """`command`, ending with a message and an exit code where it raises an expected error."""

    @functools.wraps(command)
    def guard(*arguments: _Arguments.args, **options: _Arguments.kwargs) -> _Result:
        try:
            return command(*arguments, **options)
        except BrokenPipeError:
            raise
        except _EXPECTED as error:
            _complain(_message(error))
        except MemoryError as error:
            _complain(f"out of memory: {error}" if str(error) else "out of memory")
        except KeyboardInterrupt:
            raise typer.Exit(INTERRUPTED) from None

    return guard


def run_guarded(program: Callable[[], object]) -> NoReturn:
    """Run a whole program and exit; also what the last lines of output raise is not a traceback.

    SIGTERM interrupts it as Ctrl-C does, so that what it started ends with it.

    An error that no command expects is a mistake of Celosia's.  `guarded` lets it through, so that
    tests in one process with the command line see it; here it becomes a sentence.
    """
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    code: str | int | None = 0
    try:
        program()
    except SystemExit as exit_:
        code = exit_.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        raise
    except Exception as error:
        code = BAD_INPUT
        print(f"celosia: {_unforeseen(error)}", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError as error:
        _discard_output()
        if error.errno != errno.EPIPE:
            print(f"celosia: standard output: {error.strerror}", file=sys.stderr)
            code = BAD_INPUT
    sys.exit(code)


def _unforeseen(error: Exception) -> str:
    """A sentence for an error that nobody expects, whose traceback is in a file that it names."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return (
        f"{told(error)}, in line {frame.lineno} of {frame.filename}; "
        f"{_saved(''.join(traceback.format_exception(error)))}; {MISTAKE}"
    )


def _saved(text: str) -> str:
    """Where a traceback is: in the cache, or else among temporary files."""
    for folder in (cache_directory() / "tracebacks", Path(tempfile.gettempdir())):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            number, name = tempfile.mkstemp(".txt", "traceback-", folder)
            with os.fdopen(number, "w", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            continue
        return f"the traceback is in {name}"
    return "its traceback could not be written"


def _message(error: Exception) -> str:
    """What `error` says, without numbers of the system's."""
    if not isinstance(error, OSError) or error.errno is None:
        return str(error)
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{os.strerror(error.errno)}"


def _complain(message: str) -> NoReturn:
    console = Console(stderr=True, soft_wrap=True, highlight=False)
    console.print(Text.assemble(("celosia: ", "bold red"), message))
    raise typer.Exit(BAD_INPUT)


def _discard_output() -> None:
    """Let the interpreter's own last flush succeed."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())
