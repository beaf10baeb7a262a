"""The second text: the sources of Python's manual, as Debian's package `python3.11-doc` has them.

They are in reStructuredText and under the licence of Python (PSF-2.0).  A document is a section of
a page, with its title; a page belongs to one part, whichever modules it describes: if one of them
is held out, so is the whole page.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from celosia.lab.training.text.corpus import (
    Document,
    Part,
    Shingle,
    cleaned,
    documents,
    is_near,
    part_of,
    shingles,
)
from celosia.lab.training.text.held_out import held_out_texts
from celosia.sw.reference.language.errors import LanguageError

__all__ = ["MANUAL", "PACKAGE", "ManualError", "manual_documents", "manual_texts"]

PACKAGE: Final = "python3.11-doc"
MANUAL: Final = Path("/usr/share/doc/python3.11/html/_sources")
"""Where that package puts its sources."""
_ENDING: Final = ".rst.txt"

_MODULE: Final = re.compile(r"^\.\. (?:current)?module:: *(\w+)", re.M)
_TITLE: Final = re.compile(r"^(?=\S.*\n([=\-~^\"'*#+.])\1{2,} *$)", re.M)
"""Where a line begins that is underlined."""
_ORDER: Final[tuple[Part, ...]] = ("held-out", "validation", "training")


class ManualError(LanguageError):
    """The package is not installed."""


def manual_texts(learned: Iterable[str], folder: Path = MANUAL) -> list[str]:
    """The sections to learn beside the texts that are `learned` already.

    No paragraph of them has a run of words (`shingles`) of the held-out documents that come with
    the project, and no section is near what is learned, or a docstring for validation.  Raises
    `ManualError` for a `folder` without pages.
    """
    found = [document for document in manual_documents(folder) if document.part == "training"]
    held_out = set().union(*(shingles(text) for _, text in held_out_texts()))
    validation = (each.text for each in documents() if each.part == "validation")
    seen = set().union(*map(shingles, learned), *map(shingles, validation))
    kept: list[str] = []
    for text in cleaned(_without(document.text, held_out) for document in found):
        own = shingles(text)
        if not is_near(own, seen):
            kept.append(text)
            seen |= own
    return kept


def _without(text: str, runs: set[Shingle]) -> str:
    """`text` without the paragraphs that have one of `runs`."""
    paragraphs = re.split(r"\n{2,}", text)
    return "\n\n".join(part for part in paragraphs if runs.isdisjoint(shingles(part)))


def manual_documents(folder: Path = MANUAL) -> Iterator[Document]:
    """The sections of every page below `folder`, in order of the pages' paths.

    The module of a document is the name that decides for the whole page: of those of the modules on
    top that the page describes or is called after, one that is held out if there is one, or else
    one for validation.  A page that describes none has its own name.  Raises `ManualError` for a
    folder without pages.
    """
    paths = sorted(folder.rglob(f"*{_ENDING}"))
    if not paths:
        raise ManualError(
            f"{folder}: has no {_ENDING} files; install Debian's package {PACKAGE} "
            f"(apt-get install {PACKAGE})"
        )
    names = [path.relative_to(folder).as_posix().removesuffix(_ENDING) for path in paths]
    texts = [path.read_text("utf-8") for path in paths]
    described = [_MODULE.findall(text) for text in texts]
    modules = set().union(*described)
    for name, text, found in zip(names, texts, described, strict=True):
        called = re.split(r"[.\-]", name.split("/")[-1])[0]
        candidates = [*found, called] if called in modules else found
        module = _deciding(candidates or [name])
        for section in cleaned(_sections(text)):
            yield Document(module, section)


def _deciding(names: Sequence[str]) -> str:
    return min(names, key=lambda name: _ORDER.index(part_of(name)))


def _sections(text: str) -> Iterator[str]:
    """What stands before the first title of a page, and each title with what follows it."""
    starts = [0, *(match.start() for match in _TITLE.finditer(text)), len(text)]
    for start, end in pairwise(starts):
        yield text[start:end]
