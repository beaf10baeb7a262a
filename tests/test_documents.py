"""Documents: links lead somewhere, and the command line has every command that a page shows."""

import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from celosia.sim.cli import app
from tests.test_references import ROOT, tracked

FENCE = re.compile(r"^```.*?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")
SPAN = re.compile(r"`(celosia [^`\n]+(?:\n[^`\n]+)?)`")
"""A command in the middle of a sentence, which may go on in the next line."""
COMMAND = re.compile(r"^(?:[\w ]+\$ )?(?:\.venv/bin/)?(celosia [a-z-].*)$")
"""A line of a block that is a command, with a prompt or without."""
END = re.compile(r"(?:;| (?:#|\|\|?|>|2>|&&|\.\.\.))(?: |$)")
"""What ends a command's own words."""
TEMPLATES = ("lab/survey/parts/text.md",)
"""Pages that stand elsewhere when they are printed."""
ABBREVIATED = re.compile(r"\.\.\.|\[|\||<")
"""A form of a command, and not one to type."""


def pages() -> list[str]:
    return [name for name in tracked() if name.endswith(".md") and (ROOT / name).exists()]


@cache
def anchors(page: Path) -> frozenset[str]:
    """What links may lead to in a page, as GitHub makes it of its headings."""
    seen: dict[str, int] = {}
    found = set()
    for heading in HEADING.findall(FENCE.sub("", page.read_text())):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")
        count = seen.setdefault(slug, 0)
        seen[slug] += 1
        found.add(f"{slug}-{count}" if count else slug)
    return frozenset(found)


def dead_links(page: Path, text: str) -> Iterator[str]:
    for link in LINK.findall(FENCE.sub("", text)):
        if ELSEWHERE.match(link):
            continue
        name, _, anchor = link.partition("#")
        place = (page.parent / name).resolve() if name else page
        if not place.exists():
            yield f"{link}: there is no {name}"
        elif anchor and place.suffix == ".md" and anchor not in anchors(place):
            yield f"{link}: {place.name} has no such heading"


@pytest.mark.parametrize("name", [name for name in pages() if name not in TEMPLATES])
def test_links_lead_somewhere(name):
    page = ROOT / name
    assert not list(dead_links(page, page.read_text()))


def test_a_dead_link_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# The `one` thing\n\n```\n# not this\n```\n## Twice\n## Twice\n")
    good = "[a](#the-one-thing) [b](page.md#twice-1) [c](https://x.y/#z)"
    assert not list(dead_links(page, good))
    bad = "[a](#not-this) [b](other.md) [c](page.md#twice-2)"
    assert len(list(dead_links(page, bad))) == 3


def commands(text: str) -> Iterator[str]:
    """The commands of a page: those of its blocks, and those in the middle of sentences."""
    for block in FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if match := COMMAND.match(line.strip()):
                yield END.split(match[1])[0].strip()
    for span in SPAN.findall(FENCE.sub("", text)):
        if not ABBREVIATED.search(span):
            yield END.split(" ".join(span.split()))[0].strip()


def problem(command: str) -> str:
    """Why the command line does not have `command`; empty if it has.

    It may end with an option that is spoken of, without a value.
    """
    why = _problem(command)
    spoken = why.endswith("requires an argument.") and command.rsplit(maxsplit=1)[-1].startswith(
        "--"
    )
    return _problem(f"{command} X") if spoken else why


def _problem(command: str) -> str:
    found: Any = typer.main.get_command(app)
    words, path = shlex.split(command)[1:], "celosia"
    while words and not words[0].startswith("-") and hasattr(found, "commands"):
        name = words.pop(0)
        if name not in found.commands:
            return f"{path} has no {name}"
        found, path = found.commands[name], f"{path} {name}"
    if hasattr(found, "commands"):
        return ""  # A group, or what it prints of itself.
    settings = found.context_settings
    parser = found.make_parser(typer.Context(found, info_name=path, **settings))
    try:
        _, left, _ = parser.parse_args(words)
    except typer.TyperException as error:
        return f"{path}: {error}"
    if settings.get("ignore_unknown_options"):
        return _problem(f"celosia run {shlex.join(left)}")  # The options of a workload.
    return f"{path}: {left} are too many words" if left else ""


@pytest.mark.parametrize("name", pages())
def test_the_command_line_has_every_command(name):
    text = (ROOT / name).read_text()
    found = {command: why for command in commands(text) if (why := problem(command))}
    assert not found


def test_what_is_no_command_is_found():
    spans = "`celosia run\nmatmul --shape 8x8x8` `celosia run [X]`\n"
    text = f"{spans}```sh\ncelosia run \\\n a --sim\n```\n"
    assert list(commands(text)) == ["celosia run   a --sim", "celosia run matmul --shape 8x8x8"]
    assert not problem("celosia run matmul --shape 8x8x8 --json out.json")
    assert problem("celosia runs matmul") == "celosia has no runs"
    assert "--shapes" in problem("celosia run matmul --shapes 8x8x8")
    assert "--shapes" in problem("celosia tune matmul --shapes 8x8x8")
    assert not problem("celosia run --json")
    assert "--tiems" in problem("celosia run matmul --tiems 3")
    assert "too many" in problem("celosia doctor one two three")
