"""Documents: links lead somewhere, and the command line has every command that a page shows."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.documents.pages import BLOCK, is_mention, lines, pages, problem
from tests.test_references import ROOT

HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"[a-z]+:")
TEMPLATES = ("lab/survey/parts/text.md",)
"""Pages that stand elsewhere when they are printed."""


@cache
def anchors(page: Path) -> frozenset[str]:
    """What links may lead to in a page, as GitHub makes it of its headings."""
    seen: dict[str, int] = {}
    found = set()
    for heading in HEADING.findall(BLOCK.sub("", page.read_text())):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        slug = re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")
        count = seen.setdefault(slug, 0)
        seen[slug] += 1
        found.add(f"{slug}-{count}" if count else slug)
    return frozenset(found)


def dead_links(page: Path, text: str) -> Iterator[str]:
    for link in LINK.findall(BLOCK.sub("", text)):
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


@pytest.mark.parametrize("name", pages())
def test_the_command_line_has_every_command(name):
    found = [each for line in lines((ROOT / name).read_text()) for each in line.commands]
    assert not {command: why for command in found if (why := problem(command))}


def test_what_is_no_command_is_found():
    assert not problem("celosia run matmul --shape 8x8x8 --json out.json")
    assert problem("celosia runs matmul") == "celosia has no runs"
    assert "--shapes" in problem("celosia run matmul --shapes 8x8x8")
    assert "--shapes" in problem("celosia tune matmul --shapes 8x8x8")
    assert not problem("celosia run --json")
    assert "--tiems" in problem("celosia run matmul --tiems 3")
    assert "too many" in problem("celosia doctor one two three")
    assert problem("celosia config shows base") == "celosia config has no shows"


PAGE = """`celosia run
matmul --shape 8x8x8` `celosia run [X]`
```sh
cp a b
celosia run \\
 a --sim
```
`celosia bench`
```
host a$ celosia top p.cel; celosia asm p.cel | celosia disasm > w   # all of it
$ .venv/bin/celosia doctor --help
first  2
...
$ celosia bench
```
"""


def test_lines_of_a_page_are_found():
    found = list(lines(PAGE))
    assert [each.text for each in found] == [
        "celosia run matmul --shape 8x8x8",
        "cp a b",
        "celosia run   a --sim",
        "celosia bench",
        "celosia top p.cel; celosia asm p.cel | celosia disasm > w",
        "celosia doctor --help",
        "celosia bench",
    ]
    assert [each.in_sentence for each in found] == [True, *[False] * 2, True, *[False] * 3]
    assert [each.output for each in found] == ["", "", "", "", "", "first  2\n...", ""]
    assert found[1].commands == ()
    assert found[4].commands == ("celosia top p.cel", "celosia asm p.cel", "celosia disasm")


def test_a_command_that_lacks_something_is_only_mentioned():
    mentions = ("celosia fuzz", "celosia c-host build", "celosia run --profile")
    assert all(map(is_mention, (*mentions, "celosia run", "celosia plan attention --heads")))
    complete = ("celosia opt --help", "celosia area --preset base", "celosia run a.cel")
    assert not any(map(is_mention, complete))
