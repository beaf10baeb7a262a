"""The text that the small language model learns: documentation that comes with the interpreter.

These are the documentation topics (`pydoc_data.topics`) and the standard library's docstrings.
Sources are parsed; only modules that every interpreter has built in are imported.  Tests and files
that bear a licence of their own are left out; the rest is under the licence of Python (PSF-2.0).

A part is chosen by the name of the module on top (`email`, `json`), so that no module is in two.
"""

import ast
import inspect
import re
import sysconfig
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Final, Literal

from celosia.lab.training.text.held_out import held_out_texts

__all__ = [
    "HELD_OUT",
    "SHINGLE_WORDS",
    "Document",
    "Part",
    "Shingle",
    "cleaned",
    "corpus_key",
    "documents",
    "held_out_documents",
    "is_near",
    "part_of",
    "shingles",
    "training_texts",
    "without_near_duplicates",
]

Part = Literal["training", "validation", "held-out"]
Shingle = tuple[str, ...]

SHINGLE_WORDS: Final = 5
"""Words of a shingle: texts are compared by their runs of so many words."""

_MOST_SHARED: Final = 0.3
"""The greatest share of shingles that a document may have in common with what is kept already."""

_DESCRIBED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
"""What may have a docstring."""
_WITH_STATEMENTS: Final = (ast.stmt, ast.excepthandler, ast.match_case)
_FEWEST_LETTERS: Final = 20
"""A shorter docstring says next to nothing."""

HELD_OUT: Final = 16
"""One module in so many, by a hash of its name, is held out, and as many are for validation."""

_BYTE: Final = 4
"""The byte of the hash that decides: of the first eight, the one with parts of useful sizes."""

_ALWAYS_TRAINING: Final = "pydoc_data"
"""The module of the documentation topics: a fifth of all text."""

_BUILT_IN: Final = (
    "builtins", "sys", "time", "itertools", "gc", "marshal", "posix",
    "_codecs", "_collections", "_functools", "_io", "_operator", "_signal", "_sre", "_thread",
)  # fmt: skip
"""Modules without a source that every interpreter on Linux has."""

_LEFT_OUT: Final = frozenset({
    "site-packages", "dist-packages", "test", "tests", "idle_test", "lib2to3", "turtledemo",
    "__pycache__",
})  # fmt: skip
_OWN_LICENCE: Final = re.compile(
    rb"permission\s+(is\s+hereby|to\s+use|to\s+copy)|hereby\s+granted|provided\s+'as-is'", re.I
)


@dataclass(frozen=True)
class Document:
    """A docstring or a topic, and the module on top that it belongs to."""

    module: str
    text: str

    @property
    def part(self) -> Part:
        """The part that the document belongs to."""
        return part_of(self.module)


def part_of(module: str) -> Part:
    """The part that a module on top belongs to, by a hash of its name.

    A module and its inner half (`io` and `_io`) belong together.
    """
    if module == _ALWAYS_TRAINING:
        return "training"
    number = sha256(module.lstrip("_").encode()).digest()[_BYTE] % HELD_OUT
    return "held-out" if number == 0 else "validation" if number == 1 else "training"


def documents(library: Path | None = None) -> Iterator[Document]:
    """Every topic, then the docstrings of `library`'s sources, in order of their paths.

    `library` is the folder of the standard library if none is given; another one has no topics.
    """
    if library is None:
        library = Path(sysconfig.get_path("stdlib"))
        topics = import_module("pydoc_data.topics").topics
        yield from _long_enough(_ALWAYS_TRAINING, (topics[name] for name in sorted(topics)))
        for name in _BUILT_IN:
            yield from _long_enough(name, _built_in_docstrings(import_module(name)))
    for path in sorted(library.rglob("*.py")):
        place = path.relative_to(library)
        if not _LEFT_OUT.intersection(place.parts):
            yield from _long_enough(place.parts[0].removesuffix(".py"), _docstrings(path))


def _long_enough(module: str, texts: Iterable[str]) -> Iterator[Document]:
    for text in cleaned(texts):
        yield Document(module, text)


def cleaned(texts: Iterable[str]) -> Iterator[str]:
    """The texts that have 20 letters, without trailing blanks and with blanks for tabs."""
    for text in texts:
        lines = "\n".join(line.rstrip() for line in text.expandtabs().strip().splitlines())
        if sum(map(str.isalpha, lines)) >= _FEWEST_LETTERS:
            yield lines


def _docstrings(path: Path) -> Iterator[str]:
    """The docstrings of a source, in the order in which they stand there."""
    source = path.read_bytes()
    if _OWN_LICENCE.search(source):
        return
    nodes = [node for node in _statements(ast.parse(source)) if isinstance(node, _DESCRIBED)]
    for node in sorted(nodes, key=lambda node: getattr(node, "lineno", 0)):
        if text := ast.get_docstring(node):
            yield text


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """A node and the statements in it; no expression, which most nodes are, has any."""
    yield node
    for name in node._fields:
        parts = getattr(node, name)
        if isinstance(parts, list):
            for part in parts:
                if isinstance(part, _WITH_STATEMENTS):
                    yield from _statements(part)


def _built_in_docstrings(owner: object, nested: bool = False) -> Iterator[str]:
    """The docstrings of a module or class without a source, and of what it has, by name."""
    if text := inspect.getdoc(owner):
        yield text
    for _, member in sorted(vars(owner).items()):
        if inspect.isclass(member) and not nested:
            yield from _built_in_docstrings(member, nested=True)
        elif callable(member) and not inspect.isclass(member) and (text := inspect.getdoc(member)):
            yield text


def shingles(text: str) -> set[Shingle]:
    """The runs of `SHINGLE_WORDS` words of `text`, in lower case; a shorter text is one run."""
    words = re.findall(r"\w+", text.lower())
    last = max(len(words) - SHINGLE_WORDS, 0)
    return {tuple(words[start : start + SHINGLE_WORDS]) for start in range(last + 1)}


def without_near_duplicates(found: Iterable[Document]) -> list[Document]:
    """The documents that are not near another that is kept.

    What is held out is looked at first, then validation, so that it is the training text that gives
    way.
    """
    order: dict[Part, int] = {"held-out": 0, "validation": 1, "training": 2}
    kept: list[Document] = []
    seen: set[Shingle] = set()
    for document in sorted(found, key=lambda document: order[document.part]):
        own = shingles(document.text)
        if not is_near(own, seen):
            kept.append(document)
            seen |= own
    return kept


def is_near(own: Set[Shingle], others: Set[Shingle]) -> bool:
    """Whether more than `_MOST_SHARED` of a document's shingles stand in others."""
    return len(own & others) > _MOST_SHARED * len(own)


def training_texts() -> list[str]:
    """The documents to learn from: none is near the held-out ones that come with the project."""
    held_out = (Document(module, text) for module, text in held_out_texts())
    kept = without_near_duplicates([*held_out, *documents()])
    return [document.text for document in kept if document.part == "training"]


def held_out_documents() -> list[tuple[str, str]]:
    """Module and text of the documents of this interpreter that are held out.

    One that is near the training text is left out: a short docstring may stand in a long one, which
    is not near it.
    """
    kept = without_near_duplicates(documents())
    learned = [document for document in kept if document.part == "training"]
    known = set().union(*(shingles(document.text) for document in learned))
    return [
        (document.module, document.text)
        for document in kept
        if document.part == "held-out" and not is_near(shingles(document.text), known)
    ]


def corpus_key(texts: Sequence[str]) -> str:
    """A hash of texts, that tells one interpreter's documentation from another's."""
    state = sha256()
    for text in texts:
        state.update(sha256(text.encode()).digest())
    return state.hexdigest()[:16]
