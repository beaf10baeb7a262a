"""Which commands of which pages tests run, and when; and where a page has their numbers."""

import re
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal

from tests.documents.pages import Line, is_mention, lines, pages
from tests.test_references import ROOT

When = Literal["quick", "nightly", "left out"]
"""In `make test` (and at night); in `make nightly` alone; never."""


@dataclass(frozen=True)
class Numbers:
    """Numbers of a page that a command of this page or another one prints, or writes to `file`.

    They stand where `says`, a piece of the page's text, has `#`; or in a table, `below` a text,
    that begins with `table`: in `columns` of its rows, of those alone that begin with `row`; or in
    the block that begins with `block`, a copy of the output. `scattered`: numbers of a row are in
    several lines. `within`: how far they may be off, as a share: of what depends on the machine.
    """

    page: str
    command: str
    says: str = ""
    table: str = ""
    columns: list[str] = field(default_factory=list)
    row: str = ""
    block: str = ""
    file: str = ""
    below: str = ""
    scattered: bool = False
    within: float = 0.0


@dataclass(frozen=True)
class Rules:
    """What `commands.toml` says; a pattern may begin with that of pages: `PAGES: COMMANDS`."""

    not_run: dict[str, str]
    forms: list[str]
    nightly: list[str]
    left_out: dict[str, list[str]]
    given: dict[str, str]
    numbers: list[Numbers]

    def reason(self, page: str, line: Line) -> str:
        """Why `line` is never run; empty if it is."""
        if any(re.search(rf"(?<![\w.]){form}(?![\w.])", line.text) for form in self.forms):
            return "a form, and not a command to type"
        for reason, patterns in self.left_out.items():
            if any(matches(pattern, page, line) for pattern in patterns):
                return reason
        return ""

    def when(self, page: str, line: Line) -> When:
        if self.reason(page, line):
            return "left out"
        late = any(matches(pattern, page, line) for pattern in self.nightly)
        return "nightly" if late else "quick"


def matches(pattern: str, page: str, line: Line) -> bool:
    """Whether a command of `line` is one of `pattern`."""
    before, _, behind = pattern.rpartition(": ")
    return fnmatchcase(page, before or "*") and any(
        fnmatchcase(command, behind) for command in line.commands
    )


@cache
def rules() -> Rules:
    document = tomllib.loads((Path(__file__).parent / "commands.toml").read_text())
    document["numbers"] = [Numbers(**each) for each in document["numbers"]]
    return Rules(**document)


@cache
def script(page: str) -> tuple[Line, ...]:
    """The lines of `page` that are complete commands, each once, in order."""
    if any(fnmatchcase(page, pattern) for pattern in rules().not_run):
        return ()
    found = [
        line
        for line in lines((ROOT / page).read_text())
        if not (line.in_sentence and all(map(is_mention, line.commands)))
    ]
    return tuple({line.text: line for line in found}.values())


def scripts() -> dict[str, tuple[Line, ...]]:
    """All pages that have commands, with these."""
    return {page: script(page) for page in pages() if script(page)}
