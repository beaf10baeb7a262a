"""The command line inside of this process, as a user calls it, with a deadline."""

import io
import os
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.metadata import entry_points
from types import FrameType
from typing import Final

from celosia.sim.support.cache import CACHE_VARIABLE

__all__ = ["BUILDING_SECONDS", "SECONDS", "Ended", "celosia"]

SECONDS: Final = 20
"""Processor time of this process that a command may take."""
BUILDING_SECONDS: Final = 600
"""The same of a command that may have to build a simulator."""
_WAITING: Final = 30
"""How many times longer it may take by the clock: on a machine that does other work, too."""


@dataclass(frozen=True)
class Ended:
    """How a command has ended."""

    code: int | None
    """Its exit code; None for a traceback and for one that did not end."""
    output: str
    """All that it printed, and the traceback."""


class _Hangs(BaseException):
    """Nothing that the command line expects."""


def celosia(words: Sequence[str], cache: str = "", seconds: float = SECONDS) -> Ended:
    """How `celosia` with these words ends, in the current folder; `cache` replaces its cache.

    It must not take `seconds` of processor time, nor many times as long by waiting for something.
    """
    (script,) = entry_points(group="console_scripts", name="celosia")
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="replace", write_through=True)
    code: int | None = None
    with redirect_stdout(out), redirect_stderr(out), _environment(words, cache):
        try:
            with _deadline(seconds):
                script.load()()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        except _Hangs:
            out.write(f"\nit did not end within {seconds:g} s of processor time\n")
        except Exception:
            out.write(traceback.format_exc())
    assert isinstance(out.buffer, io.BytesIO)
    return Ended(code, out.buffer.getvalue().decode(errors="replace"))


@contextmanager
def _environment(words: Sequence[str], cache: str) -> Iterator[None]:
    argv, environment = sys.argv, dict(os.environ)
    sys.argv = ["celosia", *words]
    if cache:
        os.environ[CACHE_VARIABLE] = cache
    try:
        yield
    finally:
        sys.argv = argv
        os.environ.clear()
        os.environ.update(environment)


@contextmanager
def _deadline(seconds: float) -> Iterator[None]:
    def end(_number: int, _frame: FrameType | None) -> None:
        raise _Hangs

    timers = (
        (signal.ITIMER_PROF, signal.SIGPROF, seconds),
        (signal.ITIMER_REAL, signal.SIGALRM, _WAITING * seconds),
    )
    before = [signal.signal(number, end) for _, number, _ in timers]
    for timer, _, most in timers:
        signal.setitimer(timer, most)
    try:
        yield
    finally:
        for (timer, number, _), handler in zip(timers, before, strict=True):
            signal.setitimer(timer, 0)
            signal.signal(number, handler)
