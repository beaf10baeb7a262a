"""Messages about values of options: sentences that ask what was meant."""

import re
from typing import Final

from celosia.isa.config import did_you_mean

__all__ = ["plain_message"]

_PREFIX: Final = "Value error, "
"""What the library that checks values puts before each message."""
_CHOICE: Final = re.compile(r"'(?P<value>.*?)' is not one of (?P<known>'.*')\.?", re.DOTALL)


def plain_message(message: str) -> str:
    """`message` without words for programmers, and with the choice that may be meant."""
    plain = message.replace(_PREFIX, "")
    if (found := _CHOICE.fullmatch(plain)) is None:
        return plain
    near = did_you_mean(found["value"], re.findall(r"'([^']*)'", found["known"]))
    return f"{plain.rstrip('.')}{near}" if near else plain
