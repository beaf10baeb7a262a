"""How long jobs tell how far they are."""

from collections.abc import Callable

__all__ = ["Progress", "ignore", "silent"]

Progress = Callable[[str, float | None], None]
"""Called with what is going on and the part that is done, 0..1, or None if nobody knows."""


def silent(_text: str, _done: float | None) -> None:
    """Progress that is told to nobody."""


def ignore(_text: str) -> None:
    """Tell nobody what is said once."""
