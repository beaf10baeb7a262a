"""Groups of options become values, and their options parameters of the command."""

import inspect
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from celosia.sim.command.options.groups import Group, arguments_of, grouped, plain


@dataclass(frozen=True)
class Point:
    """Two numbers, and a third of a group within the group."""

    x: int
    y: int
    deep: str


def deep(*, name: Annotated[str, typer.Option(help="A name.")] = "none") -> str:
    """A group in a group."""
    return name.upper()


def point(
    first: Annotated[int, typer.Argument()],
    *,
    y: int = 2,
    deep: Annotated[str, Group(deep)],
) -> Point:
    """A group with an argument."""
    return Point(first, y, deep)


def test_a_command_gets_values_and_typer_gets_options():
    seen = []

    @grouped
    def command(*, at: Annotated[Point, Group(point)], times: int = 1) -> None:
        """What it does."""
        seen.append((at, times))

    assert [*inspect.signature(command).parameters] == ["first", "y", "name", "times"]
    assert command.__doc__ == "What it does."
    app = typer.Typer()
    app.command()(command)
    assert CliRunner().invoke(app, ["7", "--name", "it", "--times", "3"]).exit_code == 0
    assert seen == [(Point(7, 2, "IT"), 3)]


def test_the_values_of_all_options_make_the_arguments():
    def command(*, at: Annotated[Point, Group(point)]) -> None:
        """Nothing."""

    values = {"first": 1, "y": 5, "name": "a", "other": 0}
    assert arguments_of(command, values) == {"at": Point(1, 5, "A")}


def test_two_options_of_one_name_are_a_mistake():
    with pytest.raises(ValueError, match="command: options of two groups: name"):

        @grouped
        def command(*, a: Annotated[str, Group(deep)], name: str = "") -> None:
            """Never made."""


def test_values_are_plain():
    class Kind(StrEnum):
        ONE = "one"

    assert [plain(each) for each in (Kind.ONE, [1, 2], 3)] == ["one", (1, 2), 3]
