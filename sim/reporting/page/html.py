"""Small pieces of HTML; every text is escaped."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Final, NamedTuple

from celosia.sim.support.words import cut_middle

__all__ = [
    "Below",
    "Link",
    "Name",
    "definition_table",
    "paragraph",
    "preformatted",
    "section",
    "table",
    "tile",
]


_NARROW: Final = 28
"""Characters of a name in a table of a narrow page."""


_NUMBER: Final = re.compile(r"-|[-+]?\d[\d,]*(\.\d+)?(e[-+]\d+)?( %)?")


class Link(NamedTuple):
    """A cell of a table that leads somewhere."""

    text: str
    to: str


class Name(NamedTuple):
    """A cell with a name that is cut in the middle where a page is narrow."""

    text: str


class Below(NamedTuple):
    """A cell of a table with small letters below; lines of both are broken where they must."""

    text: str
    small: str


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph of plain text."""
    kinds = f' class="{kind}"' if kind else ""
    return f"<p{kinds}>{escape(text)}</p>"


def preformatted(text: str) -> str:
    """A block of preformatted text."""
    return f"<pre>{escape(text)}</pre>"


def section(name: str, heading: str, *body: str, long: bool = False) -> str:
    """A section that links lead to; a long one may be cut by the end of a printed page."""
    kind = ' class="long"' if long else ""
    content = "\n".join((f"<h2>{escape(heading)}</h2>", *body))
    return f'<section id="{name}"{kind}>\n{content}\n</section>'


def tile(value: str, label: str, kind: str = "") -> str:
    """A tile that shows a number that matters."""
    return (
        f'<div class="tile"><b class="{kind}">{escape(value)}</b><span>{escape(label)}</span></div>'
    )


def table(heads: Sequence[str], rows: Iterable[Sequence[object]], names: Sequence[str] = ()) -> str:
    """A table; numbers stand to the right, also as texts, and None or ``-`` where there is none.

    `names` are those of its rows, for links that lead to them.
    """
    body = list(rows)
    numeric = [
        bool(body) and all(_is_number(row[column]) for row in body) for column in range(len(heads))
    ]
    kinds = [' class="number"' if each else "" for each in numeric]
    head = "".join(
        f"<th{kind}>{escape(text)}</th>" for text, kind in zip(heads, kinds, strict=True)
    )
    starts = [f'<tr id="{escape(name)}">' for name in names] or ["<tr>"] * len(body)
    lines = [
        start
        + "".join(f"<td{kind}>{_cell(cell)}</td>" for cell, kind in zip(row, kinds, strict=True))
        + "</tr>"
        for start, row in zip(starts, body, strict=True)
    ]
    return _table(f"<thead><tr>{head}</tr></thead>", lines)


def definition_table(rows: Iterable[tuple[str, object]]) -> str:
    """A table of names and values."""
    lines = [f"<tr><th>{escape(name)}</th><td>{_cell(value)}</td></tr>" for name, value in rows]
    return _table("", lines)


def _table(head: str, lines: list[str]) -> str:
    body = "\n".join(lines)
    return f'<div class="scroll"><table>{head}<tbody>\n{body}\n</tbody></table></div>'


def _is_number(cell: object) -> bool:
    if isinstance(cell, str):
        return _NUMBER.fullmatch(cell) is not None
    return cell is None or isinstance(cell, int | float)


def _cell(value: object) -> str:
    if isinstance(value, Link):
        return f'<a href="{escape(value.to)}">{escape(value.text)}</a>'
    if isinstance(value, Name):
        short = cut_middle(value.text, _NARROW)
        spans = (("wide", value.text), ("narrow", short))
        return "".join(f'<span class="{kind}">{_broken(text)}</span>' for kind, text in spans)
    if isinstance(value, Below):
        return f"<span>{escape(value.text)}</span><small>{escape(value.small)}</small>"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "-"}[value]
    return f"{value:,}" if isinstance(value, int | float) else _broken(str(value))


def _broken(text: str) -> str:
    """A text of a cell; where there is little room, a line ends behind ``_`` first."""
    return re.sub(r"_(?=\w)", "_<wbr>", escape(text))
