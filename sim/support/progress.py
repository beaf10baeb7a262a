"""How long jobs tell how far they are."""

from collections.abc import Callable

__all__ = ["Progress", "ignore", "share", "silent"]

Progress = Callable[[str, float | None], None]
"""Called with what is going on and the part that is done, 0..1, or None if nobody knows."""


def silent(_text: str, _done: float | None) -> None:
    """Progress that is told to nobody."""


def ignore(_text: str) -> None:
    """Tell nobody what is said once."""


def share(tell: Progress, begin: float, end: float) -> Progress:
    """What tells `tell` of a job that takes the whole from `begin` to `end`, each 0..1.

    So that the time that is left is that of the whole.
    """

    def told(text: str, done: float | None) -> None:
        tell(text, None if done is None else begin + (end - begin) * done)

    return told
