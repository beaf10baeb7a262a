"""What a command is, the groups in which commands are shown, and how they join a command line."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

import typer
from typer.core import TyperGroup

from celosia.sim.command.options.spelling import plain_message, refused_value
from celosia.sim.support.guard import guarded

__all__ = ["ANY", "Command", "Commands", "Panel", "add_commands"]

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
    does: Callable[..., None] | typer.Typer
    """What is called; what it raises becomes a message and an exit code (`guarded`)."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The settings of its context."""
    epilog: str | None = None


class Commands(TyperGroup):
    """A group of commands, whose messages about values are sentences."""

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
        return sorted(
            super().list_commands(ctx),
            key=lambda name: panels.index(Panel(self.commands[name].rich_help_panel)),  # pyright: ignore[reportAttributeAccessIssue]
        )


def add_commands(app: typer.Typer, commands: Sequence[Command]) -> None:
    """Add commands to a command line."""
    for each in commands:
        if isinstance(each.does, typer.Typer):
            app.add_typer(each.does, name=each.name, rich_help_panel=each.panel)
        else:
            app.command(
                each.name,
                context_settings=dict(each.settings),
                epilog=each.epilog,
                rich_help_panel=each.panel,
            )(guarded(each.does))
