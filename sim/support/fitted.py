"""Tables that fit a terminal: names are cut in the middle, numbers never.

Where there is no room for all columns, those that matter least are left out, and a line below says
which.  A column without a word in any row is not shown.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

from celosia.sim.support.words import cut_middle

__all__ = ["Column", "FittedTable"]

_NAME: Final = 32
"""Characters that a name keeps, if leaving out columns helps."""
_TEXT: Final = 18
"""Characters of a column of text, which is folded."""
_LEAST: Final = 8


@dataclass(frozen=True)
class Column:
    """A column: of names, of numbers, or of text, which may take several lines."""

    head: str
    kind: Literal["name", "number", "text"] = "number"
    needless: int = 0
    """How early it is left out: the largest first, 0 never."""


@dataclass(frozen=True)
class _Row:
    cells: tuple[str, ...]
    style: str | None
    ends: bool


@dataclass(kw_only=True)
class FittedTable:
    """A table whose first column is a name; cells are markup, but for names."""

    columns: Sequence[Column]
    title: str | None = None
    caption: str = ""
    rows: list[_Row] = field(default_factory=list)

    def add_row(self, *cells: str, style: str | None = None, end_section: bool = False) -> None:
        """Another row, as many cells as there are columns."""
        assert len(cells) == len(self.columns)
        self.rows.append(_Row(cells, style, end_section))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self.fitted(options.max_width)

    def fitted(self, width: int) -> Table:
        """The table of a terminal of so many characters."""
        shown, name = self._chosen(width)
        left_out = [self.columns[at].head for at in self._filled() if at not in shown]
        captions = [self.caption] if self.caption else []
        if left_out:
            listed = ", ".join(left_out)
            captions.append(f"left out at {width} characters: {listed} (COLUMNS=160 shows more)")
        table = Table(
            title=self.title,
            caption="\n".join(captions) or None,
            title_justify="left",
            caption_justify="left",
        )
        for at in shown:
            self._add_column(table, self.columns[at], name)
        for row in self.rows:
            cells = [
                Text(cut_middle(row.cells[at], name))
                if self.columns[at].kind == "name"
                else row.cells[at]
                for at in shown
            ]
            table.add_row(*cells, style=row.style, end_section=row.ends)
        return table

    def _add_column(self, table: Table, column: Column, name: int) -> None:
        if column.kind == "number":
            table.add_column(column.head, justify="right", no_wrap=True)
        elif column.kind == "name":
            table.add_column(column.head, no_wrap=True, max_width=name)
        else:
            table.add_column(column.head, overflow="fold")

    def _chosen(self, width: int) -> tuple[list[int], int]:
        """The columns that are shown, and the characters of names."""
        shown = self._filled()
        natural = [self._natural(at) for at in range(len(self.columns))]
        names = [at for at in shown if self.columns[at].kind == "name"]
        wanted = max(natural[at] for at in names)
        for at in self._order():
            if self._room(width, shown, natural) >= min(wanted, _NAME):
                break
            if at in shown:
                shown.remove(at)
        return shown, max(_LEAST, min(wanted, self._room(width, shown, natural)))

    def _filled(self) -> list[int]:
        """The columns that have a cell with something in it; all, if there are no rows."""
        columns = range(len(self.columns))
        return [at for at in columns if any(row.cells[at] for row in self.rows)] or [*columns]

    def _order(self) -> Iterator[int]:
        """The columns that may be left out, the first one first."""
        numbers = sorted(range(len(self.columns)), key=lambda at: -self.columns[at].needless)
        return (at for at in numbers if self.columns[at].needless)

    def _room(self, width: int, shown: Sequence[int], natural: Sequence[int]) -> int:
        """The characters that are left for each name."""
        names = sum(self.columns[at].kind == "name" for at in shown)
        taken = 3 * len(shown) + 1
        for at in shown:
            kind = self.columns[at].kind
            taken += 0 if kind == "name" else natural[at] if kind == "number" else self._text(at)
        return (width - taken) // max(names, 1)

    def _natural(self, at: int) -> int:
        """The characters of a column that is neither cut nor folded."""
        cells = [self.columns[at].head, *(row.cells[at] for row in self.rows)]
        if self.columns[at].kind == "name":
            return max(map(len, cells))
        return max(Text.from_markup(cell).cell_len for cell in cells)

    def _text(self, at: int) -> int:
        return min(_TEXT, self._natural(at))
