"""Options of a command in groups, each of which becomes one value.

A group is a function whose keyword parameters are options; a command takes what it returns::

    def memory(*, latency: LatencyOption = 40) -> MemoryTiming: ...

    @grouped
    def run(*, timing: Annotated[MemoryTiming, Group(memory)]) -> None: ...

`grouped` gives the command the options of its groups as parameters, which is what Typer reads.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import wraps
from typing import Any, get_type_hints

__all__ = ["Group", "arguments_of", "grouped", "plain"]


@dataclass(frozen=True)
class Group:
    """What makes a value of options: a function, or a class, of keyword parameters."""

    make: Callable[..., Any]


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """`command` with the options of its groups in the place of their values.

    Raises `ValueError` if two options have one name.
    """

    @wraps(command)
    def flat(**options: Any) -> None:
        command(**arguments_of(command, options))

    parameters = list(_options(command))
    names = [each.name for each in parameters]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"{command.__name__}: options of two groups: {', '.join(sorted(twice))}")
    flat.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    flat.__annotations__ = {each.name: each.annotation for each in parameters}
    return flat


def plain(value: Any) -> Any:
    """`value` without what only a command line has: choices become values, lists tuples."""
    if isinstance(value, Enum):
        return value.value
    return tuple(value) if isinstance(value, list) else value


def _parameters(function: Callable[..., Any]) -> Iterator[tuple[inspect.Parameter, Group | None]]:
    """The parameters of a function, each with its group if it is the value of one."""
    hints = get_type_hints(function, include_extras=True)
    for each in inspect.signature(function).parameters.values():
        hint = hints.get(each.name, each.annotation)
        groups = [mark for mark in getattr(hint, "__metadata__", ()) if isinstance(mark, Group)]
        yield each.replace(annotation=hint), groups[0] if groups else None


def _options(function: Callable[..., Any]) -> Iterator[inspect.Parameter]:
    """The options of a function, those of its groups in their place."""
    for each, group in _parameters(function):
        if group is None:
            yield each.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        else:
            yield from _options(group.make)


def arguments_of(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `function`, which has groups, of the values of all its options."""
    return {
        each.name: options[each.name]
        if group is None
        else group.make(**arguments_of(group.make, options))
        for each, group in _parameters(function)
    }
