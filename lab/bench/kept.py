"""Tables whose cases take hours: each has a line of JSON, and only what is missing is measured."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from celosia.sim.support.guard import guarded
from celosia.sim.support.line_file import append_line, open_lines_of
from celosia.sim.support.problems import InputError
from celosia.sim.support.words import counted

__all__ = ["KeptCase", "Line", "kept_lines", "show_kept"]

Line = Mapping[str, Any]
"""A case, and what was measured."""


@dataclass(frozen=True)
class KeptCase:
    """A case of such a table: its fields name it, and stand in its line."""

    @property
    def effort(self) -> float:
        """What it is expected to take: those of least come first, and dear ones are left."""
        raise NotImplementedError

    def measured(self) -> dict[str, Any]:
        """What its line has beside its name."""
        raise NotImplementedError


def kept_lines(
    path: Path, cases: Sequence[KeptCase], most: float, tell: Callable[[Line], None]
) -> tuple[list[Line], list[KeptCase]]:
    """All lines of the file at `path`, and the cases that are left.

    Of `cases` that are not there, those of at most `most` effort are measured, and appended.
    Raises `InputError` for a file that holds anything but lines of `cases`.
    """
    with open_lines_of(path, f"{path}: another run writes there") as file:
        try:
            lines = [_object(line) for line in file.read().splitlines()]
        except (ValueError, TypeError) as error:
            raise InputError(f"{path}: it does not hold lines of JSON objects: {error}") from None
        for number, line in enumerate(lines, 1):
            if not any(_is_of(case, line) for case in cases):
                raise InputError(f"{path}, line {number}: it is about no case of this table")
        left = [case for case in cases if not any(_is_of(case, line) for line in lines)]
        for case in sorted(left, key=lambda case: case.effort):
            if case.effort <= most:
                lines.append({**asdict(case), **case.measured()})
                append_line(file, lines[-1])
                left.remove(case)
                tell(lines[-1])
    return lines, left


def _object(text: bytes) -> Line:
    return dict(json.loads(text))


def _is_of(case: KeptCase, line: Line) -> bool:
    return line.items() >= asdict(case).items()


def show_kept(
    script: str,
    cases: Sequence[KeptCase],
    row: Callable[[Line], str],
    table: Callable[[Sequence[Line]], Iterator[str]],
    most: float,
    words: str,
) -> None:
    """Measure what the command line of a script asks for, and print a table of all lines.

    A case's `row` is printed as soon as it is measured.  `most` effort is what the second argument
    says, or else this; `words` say what it counts.
    """

    def tell(line: Line) -> None:
        print(row(line), flush=True)

    beside = Path(script).with_suffix(".jsonl")

    @guarded
    def command(
        file: Annotated[Path, typer.Argument(help="Where lines are, and are added.")] = beside,
        most: Annotated[float, typer.Argument(min=0, help=f"The most {words} of a case.")] = most,
    ) -> None:
        lines, left = kept_lines(file, cases, most, tell)
        print(*table(lines), sep="\n")
        if left:
            effort = sum(case.effort for case in left)
            print(f"{len(left)} of {counted(len(cases), 'case')} left: {effort:,.0f} {words}")

    typer.run(command)
