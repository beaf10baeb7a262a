"""What a person sees while they wait, and where tables go."""

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskProgressColumn, TextColumn
from rich.progress import TimeElapsedColumn as ElapsedColumn
from rich.progress import TimeRemainingColumn as RemainingColumn

from celosia.sim.support.output import STANDARD_OUTPUT
from celosia.sim.support.progress import Progress as Tell

__all__ = ["PATIENCE", "Steps", "line_of", "progress_bar", "table_console"]

PATIENCE = 20.0
"""Seconds from one line to the next where there is no terminal."""
_FIRST: Final = 5.0
"""Seconds up to the first line."""
_PAPER_WIDTH: Final = 124
"""Columns of tables that go to a file or a pipe."""


def table_console(json_path: str | None = None) -> Console:
    """Where tables go: standard output, or standard error if JSON goes to standard output."""
    console = Console(stderr=json_path == STANDARD_OUTPUT, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = _PAPER_WIDTH
    return console


@contextmanager
def progress_bar() -> Iterator[Tell]:
    """A function to tell progress to, shown on standard error.

    That is a bar on a terminal; elsewhere it is a line now and then, of what takes long.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        with _lines() as lines:
            yield lines
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        ElapsedColumn(),
        RemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True, refresh_per_second=4) as bar:
        task = bar.add_task("", total=None)

        def tell(text: str, done: float | None) -> None:
            bar.update(
                task, description=text, total=None if done is None else 1.0, completed=done or 0
            )

        yield tell


@contextmanager
def _lines() -> Iterator[Tell]:
    """What was told last, as a line of standard error soon, and then after `PATIENCE` seconds."""
    told: list[tuple[str, float | None]] = []
    over, begun = threading.Event(), time.monotonic()

    def write() -> None:
        pause = min(_FIRST, PATIENCE)
        while not over.wait(pause):
            pause = PATIENCE
            if told:
                typer.echo(f"celosia: {line_of(*told[-1], time.monotonic() - begun)}", err=True)

    def tell(text: str, done: float | None) -> None:
        told[:] = [(text, done)]

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield tell
    finally:
        over.set()
        writer.join()


def line_of(text: str, done: float | None, seconds: float) -> str:
    """What is going on after so many seconds, with the time left at this pace if that is known."""
    if done is None:
        return f"{text} (for {seconds:,.0f} s so far)"
    left = f", about {seconds * (1 - done) / done:,.0f} s left" if done else ""
    return f"{text}, {done:.0%} (for {seconds:,.0f} s so far{left})"


class Steps:
    """The progress of one of several steps, as the progress of all of them."""

    def __init__(self, tell: Tell, count: int):
        self._tell = tell
        self._count = count
        self._begun = 0
        self._name = ""

    def begin(self, name: str) -> None:
        """The next step, called `name`, starts."""
        self._begun += 1
        self._name = name

    def __call__(self, text: str, done: float | None) -> None:
        """Tell what the step does, and how much of it is done."""
        if not self._begun:  # What all steps need, such as a simulator, is being made.
            self._tell(text, None)
            return
        before = self._begun - 1
        share = (before + (done or 0.0)) / self._count
        known = self._count > 1 or done is not None
        self._tell(f"{self._name}: {text}", share if known else None)
