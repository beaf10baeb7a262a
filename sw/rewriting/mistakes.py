"""How a mistake of Celosia's own is told: what nobody has foreseen, whatever a user has given."""

import logging
import textwrap
from typing import Final

__all__ = ["MISTAKE", "MISTAKES", "told"]

MISTAKE: Final = "the mistake is Celosia's, please report it"
"""How each note and message of a mistake ends: fuzzing and tests look for it."""
MISTAKES: Final = logging.getLogger("celosia.mistakes")
"""Told each with its traceback, below the level of what people see; tests listen."""
_SHOWN: Final = 200
"""Characters of an error that are repeated."""


def told(error: BaseException) -> str:
    """An error in one line."""
    text = textwrap.shorten(str(error), _SHOWN, placeholder=" ...")
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
