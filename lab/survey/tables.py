"""The survey as tables: for a terminal, and as CSV."""

import csv
from io import StringIO

from rich.markup import escape
from rich.table import Table

from celosia.lab.survey.parts.values import Item
from celosia.lab.survey.survey import Survey

__all__ = ["csv_text", "summary_table"]

_COLUMNS = ("name", "paper", "ours", "difference", "kind", "settings", "netlist", "note", "unit")


def csv_text(item: Item) -> str:
    """The values of `item` as CSV, with a line of names on top."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for value in item.values:
        line = value.document()
        line["settings"] = " ".join(f"{name}={word}" for name, word in value.settings.items())
        writer.writerow([line[name] for name in _COLUMNS])
    return text.getvalue()


def summary_table(survey: Survey) -> Table:
    """A line for each item: how many of the survey's numbers there are, and how close."""
    table = Table(title="The survey and Celosia", title_justify="left")
    for head in ("item", "what", "numbers", "within 1 %", "farthest", "missing"):
        number = head in ("numbers", "within 1 %", "farthest")
        table.add_column(head, justify="right" if number else "left", overflow="fold")
    for item in survey.items:
        off = [each.difference for each in item.values if each.difference is not None]
        near = sum(abs(each) <= 0.01 for each in off)
        farthest = f"{100 * max(off, key=abs):+.1f} %" if off else ""
        numbers, within = str(len(item.values)), f"{near} of {len(off)}" if off else ""
        table.add_row(item.id, escape(item.title), numbers, within, farthest, escape(item.missing))
    return table
