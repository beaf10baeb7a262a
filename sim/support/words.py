"""Words for people."""

__all__ = ["counted"]


def counted(number: int, one: str, more: str = "") -> str:
    """So many of something: ``1 segment``, ``2,000 segments``; `more` is a plural without an s."""
    return f"{number:,} {one if number == 1 else more or f'{one}s'}"
