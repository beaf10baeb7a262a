"""A stand-in for the tools that make a simulator."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

__all__ = ["pretended_tools"]


def pretended_tools() -> tuple[list[Sequence[str]], Callable[..., None]]:
    """What to call in place of `run_tools`, and the commands that it was given.

    Each command makes the file that it should.
    """
    ran: list[Sequence[str]] = []

    def run(commands: Sequence[Sequence[str]], work: Path, **_: Any) -> None:
        for command in commands:
            ran.append(command)
            if "-o" in command:
                (work / command[command.index("-o") + 1]).write_text("made")

    return ran, run
