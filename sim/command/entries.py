"""What a command is, the groups in which commands are shown, and how they join a command line.

A command line of thirty commands runs one of them: each is imported when it is asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import import_module
from inspect import getdoc
from typing import Any, ClassVar, Final

import typer
import typer.main
from typer.core import TyperGroup

from celosia.sim.command.options.spelling import plain_message, refused_value
from celosia.sim.support.guard import guarded

__all__ = ["ANY", "Command", "Commands", "Panel"]

ANY: Final = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Settings of a command that reads the rest of its arguments as those of another one."""


class Panel(StrEnum):
    """A group of commands, in the order in which help shows them."""

    RUN = "Run and look"
    MODEL = "Your own model"
    EXPLORE = "Explore"
    HARDWARE = "Hardware"
    VERIFY = "Verify"


@dataclass(frozen=True)
class Command:
    """A command, or a group of commands with a name of its own."""

    name: str
    panel: Panel
    does: str
    """The function that is called, as ``module:name``, or the `typer.Typer` that is the group.

    What it raises becomes a message and an exit code (`guarded`).
    """
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The settings of its context."""


class Commands(TyperGroup):
    """A group of commands, whose messages about values are sentences."""

    table: ClassVar[Sequence[Command]] = ()
    """All commands; a class for each command line."""

    def __init__(self, **settings: Any):
        super().__init__(**settings)
        found: Any = _found(type(self))
        self.commands = found

    def invoke(self, ctx: Any) -> Any:
        """Run the command; what it says of a value is said plainly."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = plain_message(error.message, refused_value(error))
            raise

    def list_commands(self, ctx: Any) -> list[str]:
        """The names: panel by panel, and as they joined within one."""
        panels = list(Panel)
        return [each.name for each in sorted(self.table, key=lambda one: panels.index(one.panel))]


class _Found(Mapping[str, Any]):
    """Commands by name, imported when they are asked for."""

    def __init__(self, table: Mapping[str, Command]):
        self._table = table
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _made(self._table[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def __len__(self) -> int:
        return len(self._table)


@cache
def _found(group: type[Commands]) -> _Found:
    """The commands of `group`: each is made once, however often a process calls it."""
    return _Found({each.name: each for each in group.table})


def _made(command: Command) -> Any:
    """What the library behind the command line makes of a command."""
    app = typer.Typer()
    app.callback()(lambda: None)  # A group, although it has one command alone.
    module, name = command.does.split(":")
    does = getattr(import_module(module), name)
    if isinstance(does, typer.Typer):
        app.add_typer(does, name=command.name, rich_help_panel=command.panel)
    else:
        app.command(
            command.name,
            help=_unwrapped(getdoc(does) or ""),
            context_settings=dict(command.settings),
            rich_help_panel=command.panel,
        )(guarded(does))
    return typer.main.get_group(app).commands[command.name]


def _unwrapped(text: str) -> str:
    """A text whose paragraphs are lines: a terminal breaks them where it ends."""
    return "\n\n".join(" ".join(each.split()) for each in text.split("\n\n"))
