"""The survey in words: a text whose numbers come out of a document."""

import re
from collections.abc import Mapping
from pathlib import Path
from textwrap import fill as fill_lines
from typing import Any, Final

from celosia.lab.survey.parts.numbers import number_text
from celosia.sim.reporting.run_file import read_report
from celosia.sim.support.problems import InputError

__all__ = ["COMMITTED", "fill", "survey_text"]

COMMITTED: Final = "benchmarks/survey.json"
"""Where a checkout has the document that its text is made from."""

_TEXT: Final = Path(__file__).with_name("text.md")
_COLUMNS: Final = 120
_POINT: Final = re.compile(r"(?:-|\d+\.) ")
"""The beginning of a point of a list."""
_PLACE: Final = re.compile(r"\{\{(paper |)([\w-]+): ([^|}]+?)(?: \| ([^}]+))?\}\}")
"""``{{item: name | format}}``; ``paper`` in front: the survey's number instead of ours."""


def survey_text(root: Path) -> str:
    """The text, filled in from the checkout at `root`.

    Raises `InputError` if it names a number that the document does not have.
    """
    document = read_report(str(root / COMMITTED), "survey")
    lines = _joined(_TEXT.read_text(encoding="utf-8"))
    return "".join(f"{_wrap(fill(line, document))}\n" for line in lines)


def fill(text: str, document: Mapping[str, Any]) -> str:
    """`text` with the numbers of `document` in their places."""
    numbers = {
        (item["id"], value["name"]): value for item in document["items"] for value in item["values"]
    }

    def number(place: re.Match[str]) -> str:
        which, item, name, form = place.groups()
        value = numbers.get((item, name), {}).get("paper" if which else "ours")
        if value is None:
            raise InputError(f"{place.group()}: there is no such number in {COMMITTED}")
        return format(value, form) if form else number_text(value)

    return _PLACE.sub(number, text)


def _joined(text: str) -> list[str]:
    """Headings, paragraphs and points of lists, each as one line."""
    lines: list[str] = []
    for line in text.splitlines():
        if lines and lines[-1] and line and not line.startswith("#") and not _POINT.match(line):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    return lines


def _wrap(line: str) -> str:
    point = _POINT.match(line)
    indent = " " * (point.end() if point else 0)
    return fill_lines(
        line, _COLUMNS, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
