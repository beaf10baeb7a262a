"""Messages about values of options: sentences that ask what was meant."""

import re
from typing import Any, Final

from celosia.isa.config import did_you_mean

__all__ = ["plain_message", "refused_value"]

_PREFIX: Final = "Value error, "
"""What the library that checks values puts before each message."""
_CHOICE: Final = re.compile(r"'(?P<value>.*?)' is not one of (?P<known>'.*')\.?", re.DOTALL)
_ASKED: Final = "Input should be "
"""What begins a rule that a value broke."""
_RULES: Final = (
    (re.compile(r"greater than or equal to (\S+)"), r"\1 or more"),
    (re.compile(r"less than or equal to (\S+)"), r"\1 or less"),
    (re.compile(r"a valid integer, .*"), "a whole number"),
    (re.compile(r"a valid number, .*"), "a number"),
)
"""Rules in fewer words."""


def refused_value(error: BaseException) -> str | None:
    """The value that the library behind the command line refused, if `error` is because of one."""
    cause: Any = error.__cause__
    return str(cause.errors()[0]["input"]) if hasattr(cause, "errors") else None


def plain_message(message: str, value: str | None = None) -> str:
    """`message` without words for programmers, and with the choice that may be meant.

    It names the `value`, if it only says which rule that broke.
    """
    plain = message.replace(_PREFIX, "")
    if value is not None and plain.startswith(_ASKED):
        rule = plain.removeprefix(_ASKED)
        for pattern, words in _RULES:
            rule = pattern.sub(words, rule)
        return f"{value} is not {rule}"
    if (found := _CHOICE.fullmatch(plain)) is None:
        return plain
    near = did_you_mean(found["value"], re.findall(r"'([^']*)'", found["known"]))
    return f"{plain.rstrip('.')}{near}" if near else plain
