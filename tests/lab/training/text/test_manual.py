"""The sources of Python's manual."""

from collections import defaultdict

import pytest

from celosia.lab.training.text import manual
from celosia.lab.training.text.corpus import Document, part_of, shingles
from celosia.lab.training.text.held_out import held_out_texts
from celosia.lab.training.text.manual import MANUAL, ManualError, manual_documents, manual_texts

PAGE = """.. module:: {module}

{module} is described on this page at length.

Second title
------------

What stands below the second title.
"""
HELD_OUT = "Return the name of the file that is next in line, or none if there is no more."
LEARNED = "Say hello to each of the guests in turn, and do not forget the one behind the door."
VALIDATION = "Whoever writes to a closed stream gets an error that names the stream and its owner."
NEW = "A queue gives what it was given first, and waits as long as nothing has come yet at all."


def named(part: str) -> str:
    """A name whose hash is of this part."""
    return next(name for name in map("name{}".format, range(999)) if part_of(name) == part)


def write(folder, **pages: str):
    for name, text in pages.items():
        path = folder / f"{name.replace('__', '/')}.rst.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def parts(folder) -> dict[str, set[str]]:
    """The first words of sections by their parts."""
    found = defaultdict(set)
    for document in manual_documents(folder):
        found[document.part].add(document.text.split("\n")[-1].split(".")[0])
    return found


def test_a_section_is_a_document_with_its_title(tmp_path):
    write(tmp_path, page=PAGE.format(module=named("training")))
    first, second = manual_documents(tmp_path)
    assert first.text.endswith("is described on this page at length.")
    assert second.text.startswith("Second title\n----")
    assert second.text.endswith("below the second title.")
    assert first.module == second.module == named("training")


def test_the_page_of_a_held_out_module_is_held_out_whatever_else_it_describes(tmp_path):
    both = f".. module:: {named('training')}\n\n.. currentmodule:: {named('held-out')}.inner\n\n"
    write(tmp_path, page=f"{both}Some words that have twenty letters.")
    assert parts(tmp_path).keys() == {"held-out"}


def test_a_page_called_after_a_module_that_another_page_describes_belongs_to_it(tmp_path):
    module = named("held-out")
    write(tmp_path, library__page=PAGE.format(module=module))
    write(tmp_path, **{f"howto__{module}-more": "Words about it that have twenty letters."})
    assert parts(tmp_path).keys() == {"held-out"}


def test_a_page_without_a_module_has_its_own_name(tmp_path):
    write(tmp_path, howto__sorting="Some words that have twenty letters.")
    assert [document.module for document in manual_documents(tmp_path)] == ["howto/sorting"]


def test_what_is_held_out_or_learned_already_is_not_learned_again(tmp_path, monkeypatch):
    monkeypatch.setattr(manual, "held_out_texts", lambda: [("a", HELD_OUT)])
    monkeypatch.setattr(manual, "documents", lambda: [Document(named("validation"), VALIDATION)])
    module = f".. module:: {named('training')}\n"
    before, behind = "Before it stands this, long enough.", "Behind it stands that."
    write(
        tmp_path,
        a=f"{module}\n{before}\n\nNow: {HELD_OUT}\n\n{behind}",
        b=f"{module}\n{LEARNED}",
        c=f"{module}\n{NEW}",
        d=f"{module}\n{NEW}\n\nAgain.",
        e=f"{module}\n{VALIDATION}",
    )
    assert manual_texts([LEARNED], tmp_path) == [
        f"{module}\n{before}\n\n{behind}",
        f"{module}\n{NEW}",
    ]


def test_without_its_pages_it_says_what_to_install(tmp_path):
    with pytest.raises(ManualError, match=r"install Debian.s package python3\.11-doc"):
        manual_texts([], tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not MANUAL.is_dir(), reason="Debian's package python3.11-doc is missing")
def test_no_paragraph_of_the_manual_has_a_run_of_words_that_is_held_out():
    texts = manual_texts([])
    assert sum(map(len, texts)) > 8_000_000
    held_out = set().union(*(shingles(text) for _, text in held_out_texts()))
    for text in texts:
        for paragraph in text.split("\n\n"):
            assert held_out.isdisjoint(shingles(paragraph))
