"""No option of a group is forgotten: each that is given alone changes the value that is made."""

from collections.abc import Callable, Iterator
from enum import Enum
from importlib import import_module
from inspect import Parameter, isclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest

from celosia.sim.command.options.groups import _options, _parameters, arguments_of
from celosia.sim.commands import COMMANDS

WORDS: dict[str, Any] = {
    "channel_stalls": ["ar=5"],
    "faults": ["read:#1:slverr"],
    "overrides": ["bus_bits=64"],
    "preset": "tiny",
}
"""What an option takes that is not just any text."""
BESIDE: dict[str, dict[str, Any]] = {
    "board_words": {"board": "ulx3s-85f", "out": Path("board.bit")},
}
"""Options without which a group makes nothing."""


def groups(function: Callable[..., Any]) -> Iterator[Callable[..., Any]]:
    """What makes the values of a command's groups, also of those in each other."""
    for _, group in _parameters(function):
        if group is not None:
            yield group.make
            yield from groups(group.make)


def makers() -> dict[str, Callable[..., Any]]:
    """All groups of the commands, by name."""
    found = {}
    for command in COMMANDS:
        module, _, name = command.does.partition(":")
        target = getattr(import_module(module), name)
        commands = getattr(target, "registered_commands", None)
        functions = [each.callback for each in commands] if commands else [target]
        for function in functions:
            for make in groups(getattr(function, "__wrapped__", function)):
                found[f"{make.__module__}.{make.__name__}"] = make
    return found


MAKERS = makers()
CASES = [(name, each.name) for name, make in MAKERS.items() for each in _options(make)]


def other(option: Parameter) -> Any:
    """A value that an option does not have by itself."""
    hint, default = option.annotation, option.default
    kinds = [hint, *get_args(hint)]
    kinds += [inner for kind in kinds for inner in get_args(kind)]
    choices = [each for kind in kinds if get_origin(kind) is Literal for each in get_args(kind)]
    for kind in kinds:
        choices += [*kind] if isclass(kind) and issubclass(kind, Enum) else []
    if option.name in WORDS:
        value = WORDS[option.name]
    elif choices:
        value = next(each for each in choices if each != default)
    elif bool in kinds:
        value = not default
    elif int in kinds or float in kinds:
        value = (0 if default in (None, Parameter.empty) else default) + 8
    elif Path in kinds:
        value = Path("other")
    else:
        value = ["other"] if any(get_origin(kind) is list for kind in kinds) else "other"
    return value


def made(make: Callable[..., Any], options: dict[str, Any]) -> Any:
    """The value, or why there is none."""
    try:
        return make(**arguments_of(make, options))
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(("group", "name"), CASES)
def test_an_option_that_is_given_alone_makes_a_difference(group, name):
    make = MAKERS[group]
    options = {each.name: each for each in _options(make)}
    left_out = {
        key: other(each) if each.default is Parameter.empty else each.default
        for key, each in options.items()
    }
    left_out |= {key: each for key, each in BESIDE.get(make.__name__, {}).items() if key != name}
    if options[name].default is Parameter.empty:
        left_out[name] = None
    given = made(make, left_out | {name: other(options[name])})
    assert repr(given) != repr(made(make, left_out))


def test_there_are_groups_of_all_that_runs():
    assert {name.rpartition(".")[2] for name in MAKERS} >= {"memory", "target", "_quantized"}
    assert len(CASES) > 100
