"""The page of the lanes' modes: what each of them does in each stage."""

from dataclasses import astuple, fields
from typing import Final

from celosia.hw.vector.modes import CONTROLS, Controls
from celosia.isa.documents.markdown import table

__all__ = ["mode_page"]

_HEAD: Final = """\
# Modes of the lanes

Printed from `hw/vector/modes.py` by `celosia docs`; edit that, not this page. A step of a TRANSFORM
([functions](isa.md#functions-of-transform)) has one mode, which says what happens between the
lanes' two scalers: what enters stage 1 is x, and what leaves stage 16 is the result. The stages are
those of `hw/vector/polynomial.py`; each range of them is a file beside it. MAXIMUM does not enter
them.
"""


def mode_page() -> str:
    """What each column of the table is, and the table."""
    columns = [(column.name, type(column.default).__doc__ or "") for column in fields(Controls)]
    listed = "".join(f"- {name}: {doc[0].lower()}{doc[1:]}\n" for name, doc in columns)
    rows = [
        (mode.name, *(choice.value for choice in astuple(controls)))
        for mode, controls in CONTROLS.items()
    ]
    header = ("mode", *(name for name, _ in columns))
    return "\n".join((_HEAD, listed, table(header, rows)))
