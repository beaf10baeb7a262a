"""Prints the functions of TRANSFORM, for the page of instructions."""

from typing import Final

from celosia.isa.documents.markdown import table
from celosia.isa.functions.table import FUNCTIONS, Function, TransformFunction

__all__ = ["function_section"]

_HEAD: Final = """\
## Functions of transform

`isa/functions/table.py` has all that is known of each. The source is int32 of the accumulator, or
int16 of the scratchpad; statistics are what it reads or changes of the rows' slots.
"""

_COLUMNS: Final = ("value", "function", "source", "results", "statistics", "constants", "meaning")


def function_section() -> str:
    """A table with a row for each function."""
    rows = [_row(function, entry) for function, entry in FUNCTIONS.items()]
    return _HEAD + "\n" + table(_COLUMNS, rows)


def _row(function: Function, entry: TransformFunction) -> tuple[str, ...]:
    constants = entry.constants
    return (
        str(int(function)),
        function.name.lower(),
        _source(entry),
        ", ".join(kind.name.lower() for kind in entry.types) or "none",
        ", ".join(_statistics(entry)) or "none",
        f"[{constants}](#{constants})" if constants else "none",
        entry.doc,
    )


def _source(entry: TransformFunction) -> str:
    """What it reads."""
    first = "int16" if entry.staged else "int32 or int16" if entry.takes_int16 else "int32"
    return first + ", int16" * entry.paired


def _statistics(entry: TransformFunction) -> list[str]:
    """What it reads or changes of the rows' slots."""
    sums = "moments" if entry.moments else "sum"
    counts = entry.counted or entry.moments
    named = (
        ("maximum", entry.maximum or entry.headed),
        (sums if entry.counted else f"{sums} if asked", counts),
        ("mean and reciprocal" if entry.normalizes else "reciprocal", entry.facts),
    )
    return [name for name, has in named if has]
