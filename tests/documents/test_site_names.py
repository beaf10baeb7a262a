"""Words of docstrings in the site: links where one thing is meant, and else only words."""

import subprocess
import sys
from pathlib import Path

import pytest

from docs.site import check
from tests.test_references import ROOT

pytest.importorskip("sphinx", reason="pip install -r requirements/documents.txt")

CONF = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
project = "tried"
extensions = ["docs.site.names"]
default_role = "py:obj"
html_theme = "basic"
"""
INDEX = """
Tried
=====

.. py:class:: one.Alone
.. py:class:: one.Twin
.. py:class:: other.Twin
.. py:class:: one.list

Words: `.Alone`, `.Twin`, `one.Twin`, `.list`, `.Nobody` .
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Path:
    """The page of `INDEX`: words with a dot are names of any module.  A warning is an error."""
    folder = tmp_path_factory.mktemp("names")
    (folder / "conf.py").write_text(CONF)
    (folder / "index.rst").write_text(INDEX)
    words = ["-q", "-W", "-b", "html", str(folder), str(folder / "html")]
    build = [sys.executable, "-m", "sphinx", *words]
    done = subprocess.run(build, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "html/index.html"


@pytest.mark.parametrize(
    ("word", "place"),
    [
        ("Alone", "one.Alone"),
        ("one.Twin", "one.Twin"),
        ("Twin", None),  # One of two, and nobody knows which.
        ("list", None),  # Python's own.
        ("Nobody", None),
    ],
)
def test_a_word_leads_to_the_one_thing_that_it_may_be(page, word, place):
    words = page.read_text().partition("Words: ")[2].partition("</p>")[0]
    (shown,) = (each for each in words.split(", ") if f">{word}<" in each)
    assert (f'href="#{place}"' in shown) if place else ("href" not in shown)


def test_no_link_of_it_leads_nowhere(page):
    _, wrong = check.broken(page.parent)
    assert not [each for each in wrong if each.startswith("index.html: #one")]
