"""Pipelines as text: ``import,recognize,quantize{calibrate=c.npz},decide,expand,lower``.

Arguments of a pass are in braces, with commas or spaces between them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from types import NoneType
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from celosia.isa.config import did_you_mean
from celosia.lab.substitute.lowering.passes import PASSES, LevelPass

__all__ = ["check_levels", "parse_pipeline"]

_PASS: Final = re.compile(r"\s*([\w-]+(?: [\w-]+)*)\s*(?:\{([^{}]*)\})?\s*(,|$)")
_MOST: Final = 1 << 20
_TRUTH: Final = {"true": True, "false": False}


def parse_pipeline(text: str) -> tuple[LevelPass, ...]:
    """The passes of a text.

    Raises `ValueError` that names the place, the pass or the argument that there is not.
    """
    return tuple(_parsed(text))


def _parsed(text: str) -> Iterator[LevelPass]:
    at, more = 0, True
    while more:
        found = _PASS.match(text, at)
        if found is None:
            raise ValueError(
                f"column {at + 1}: NAME or NAME{{argument=value}} is expected, not "
                f"{text[at:][:30]!r}"
            )
        name, arguments, comma = found.groups()
        if name not in PASSES:
            near = did_you_mean(name, PASSES)
            raise ValueError(f"there is no pass {name!r}; there are {', '.join(PASSES)}{near}")
        yield _pass(PASSES[name], re.split(r"[\s,]+", (arguments or "").strip()))
        at, more = found.end(), comma == ","


def _pass(kind: type[LevelPass], words: Sequence[str]) -> LevelPass:
    values: dict[str, Any] = {}
    hints = get_type_hints(kind)
    known = [field.name for field in fields(kind)]
    for word in filter(None, words):
        name, equals, value = word.partition("=")
        if name not in known:
            there = ", ".join(known) or "none"
            raise ValueError(f"{kind.name}: there is no argument {name!r}; there are: {there}")
        if not equals or not value:
            raise ValueError(f"{kind.name}: {word!r}: write arguments as name=value")
        if name in values:
            raise ValueError(f"{kind.name}: {name} is given twice")
        values[name] = _value(hints[name], value, f"{kind.name}: {name}")
    return kind(**values)


def _value(hint: Any, text: str, place: str) -> object:
    """An argument of this annotation."""
    options = [each for each in get_args(hint) if each is not NoneType]
    if get_origin(hint) is Literal or hint is bool:
        known = dict.fromkeys(options) if get_origin(hint) is Literal else _TRUTH
        if text not in known:
            raise ValueError(f"{place}: {text!r} is none of {', '.join(known)}")
        return _TRUTH[text] if hint is bool else text
    if hint is int:
        if not (text.isascii() and text.isdigit() and 0 < int(text) < _MOST):
            raise ValueError(f"{place}: {text!r} is no whole number from 1 to {_MOST - 1:,}")
        return int(text)
    assert Path in options, f"{place}: arguments of type {hint} are not read"
    return Path(text)


def check_levels(passes: Sequence[LevelPass], level: str, name: str) -> None:
    """Raise `ValueError` for the first pass that does not take what is before it.

    `name` is what begins, on `level`.
    """
    for each in passes:
        if level not in each.takes:
            fit = [other for other, kind in PASSES.items() if level in kind.takes]
            known = f"; for that there are {', '.join(fit)}" if fit else ""
            raise ValueError(
                f"pass {each.name} takes {' or '.join(each.takes)}, and {name} is {level}{known}"
            )
        level, name = each.leaves or level, f"what {each.name} leaves"
