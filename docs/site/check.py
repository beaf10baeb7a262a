"""Follows every link of a built site that stays in it: to a file, and to an anchor of a page."""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["broken"]


class _Page(HTMLParser):
    """The links of a page, and what links may lead to in it."""

    def __init__(self, text: str):
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.anchors |= {found for key in ("id", "name") if (found := values.get(key))}
        self.links |= {found for key in ("href", "src") if (found := values.get(key))}


@cache
def _page(path: Path) -> _Page:
    return _Page(path.read_text(encoding="utf-8"))


def broken(site: Path) -> tuple[int, list[str]]:
    """The number of links of all pages of `site`, and those that lead nowhere, with their page."""
    count, found = 0, []
    for path in sorted(site.rglob("*.html")):
        for link in sorted(_page(path).links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            where = f"{path.relative_to(site)}: {link}"
            if not target.is_file():
                found.append(f"{where}: there is no such file")
            elif parts.fragment and target.suffix == ".html" and not _has(target, parts.fragment):
                found.append(f"{where}: the page has no such anchor")
    return count, found


def _has(page: Path, fragment: str) -> bool:
    return unquote(fragment) in _page(page).anchors


if __name__ == "__main__":
    total, wrong = broken(Path(sys.argv[1]))
    print(*wrong, f"{total:,} links, {len(wrong)} broken", sep="\n")
    sys.exit(bool(wrong))
