"""Each page's commands, in order, in a folder of its own; and the numbers that it has of them.

`commands.toml` says what is not run, or at night alone.
"""

import hashlib
import re
from collections.abc import Callable

import pytest

from tests.documents.numbers import differences, missing, said, table, wrong_rows
from tests.documents.pages import Line
from tests.documents.rules import Numbers, matches, rules, script, scripts
from tests.documents.shell import Answer, Shell, names
from tests.support.shared_results import of_this_run
from tests.test_references import ROOT

_PLAIN = re.compile(r"""celosia (?:[^'"|&;<>$`\\]|'[^']*'|"[^"$`\\]*")*""")
"""A line that is one command of Celosia and nothing of a shell."""
_SHARED = re.compile(r"celosia bench \w+(?: --json \S+)?")
"""Commands of many minutes that several pages have; no page reads what they write."""


def chosen(*, late: bool) -> list[str]:
    """Pages with a command that runs in `make test`, or at night alone."""
    when = "nightly" if late else "quick"
    return [
        page
        for page, found in scripts().items()
        if any(line.commands and rules().when(page, line) == when for line in found)
    ]


def call(shell: Shell, line: Line) -> Answer:
    return shell.call(line.text) if _PLAIN.fullmatch(line.text) else shell.type(line.text)


def type_once(shell: Shell, line: Line) -> Answer:
    """As a reader types it, or what the same line ended with on another page."""
    if not _SHARED.fullmatch(line.text):
        return shell.type(line.text)
    bare = line.text.partition(" --json")[0]
    name = f"page-{hashlib.sha256(bare.encode()).hexdigest()[:16]}"
    return of_this_run(name, lambda: shell.type(bare))


def prepare(shell: Shell, line: Line) -> None:
    """Make what a reader has: the files that `line` names and that no line has written."""
    for file, how in rules().given.items():
        if names(line.text, file) and not (shell.folder / file).exists():
            made = shell.type(how)
            assert made.code == 0, f"{how}\n{made.text}"


def wrong_numbers(shell: Shell, line: Line, output: str) -> list[str]:
    """What this page and others say of the output of `line`, and is not so."""
    wrong = differences(line.output, output)
    for each in rules().numbers:
        if each.command == line.text:
            wrong += [f"{each.page}: {found}" for found in _wrong(each, shell, output)]
    return wrong


def _wrong(each: Numbers, shell: Shell, output: str) -> list[str]:
    text = (ROOT / each.page).read_text()
    if each.file:
        output = (shell.folder / each.file).read_text()
    if each.says:
        wrong = missing(said(each.says, text), output, each.within)
        return [f"{each.says}: {number:,}" for number in wrong]
    if each.table:
        rows = table(text[text.index(each.below) :], each.table, each.columns, each.row)
    else:
        rows = text[text.index(f"\n{each.block}") :].split("\n```", maxsplit=1)[0].splitlines()
    if each.scattered:
        return [row for row in rows if missing(row, output, each.within)]
    if each.block:
        return differences("\n".join(rows), output)
    return wrong_rows(rows, output, each.within)


def follow(page: str, shell: Shell, run: Callable[[Shell, Line], Answer], *, late: bool) -> None:
    todo = {"quick", "nightly"} if late else {"quick"}
    ran = [line for line in script(page) if rules().when(page, line) in todo]
    is_whole = len(ran) == len(script(page))
    for line in ran:
        prepare(shell, line)
        answer = run(shell, line)
        # Where not all of a page runs, there is less to copy and to remove.
        assert answer.code == 0 or not (line.commands or is_whole), (
            f"{page}: {line.text}: exit code {answer.code}\n{answer.text}"
        )
        wrong = wrong_numbers(shell, line, answer.text)
        assert not wrong, "\n".join([f"{page}: {line.text}", *wrong, "but it is", answer.text])
    if is_whole and ran[-1].text.startswith("rm "):
        assert not shell.made() - set(rules().given), f"{page} removes what it writes"


@pytest.mark.parametrize("page", chosen(late=False))
def test_quick_commands_do_what_the_page_says(page, tmp_path, monkeypatch):
    follow(page, Shell(tmp_path, monkeypatch), call, late=False)


@pytest.mark.nightly
@pytest.mark.parametrize("page", chosen(late=True))
def test_commands_do_what_the_page_says(page, tmp_path, monkeypatch):
    follow(page, Shell(tmp_path, monkeypatch), type_once, late=True)


def test_each_rule_is_of_something():
    """A pattern, a form, a file or numbers of commands that no page has are not kept."""
    found = [(page, line) for page, lines in scripts().items() for line in lines]
    patterns = [*rules().nightly, *(each for some in rules().left_out.values() for each in some)]
    for pattern in patterns:
        assert any(matches(pattern, page, line) for page, line in found), pattern
    for file in (*rules().given, *rules().forms):
        assert any(names(line.text, file) for _, line in found), file
    for each in rules().numbers:
        when = {rules().when(page, line) for page, line in found if line.text == each.command}
        assert when - {"left out"}, f"no page runs {each.command}"
        assert bool(each.says) + bool(each.table) + bool(each.block) == 1, each


def test_a_test_is_of_what_it_is_said_to_run():
    for page, why in rules().not_run.items():
        test = re.fullmatch(r"(tests/\S+\.py) runs them", why)
        assert not test or (ROOT / test[1]).exists(), page
