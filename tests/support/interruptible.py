"""Commands that can be interrupted, whoever starts the tests."""

import sys

__all__ = ["interruptible"]

_CODE = """
import signal, sys
from celosia.sim.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
main()
"""


def interruptible(*words: str) -> list[str]:
    """The command line with these words.

    Shells let what they start in the background ignore interrupts, and so do its children.
    """
    return [sys.executable, "-c", _CODE, *words]
