"""Tables of values as plain HTML, as notebooks show them; every text is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

__all__ = ["html_table"]


def html_table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """A table; numbers stand to the right with commas, and None is ``-``."""
    told = f"<caption>{escape(caption)}</caption>" if caption else ""
    head = "".join(f"<th>{escape(each)}</th>" for each in heads)
    lines = ("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
    body = "\n".join(lines)
    return f"<table>{told}<thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _cell(value: object) -> str:
    if value is None:
        return "<td>-</td>"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"<td style='text-align: right'>{value:,}</td>"
    return f"<td>{escape(str(value))}</td>"
