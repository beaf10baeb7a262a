"""The site: every document and every public name is in it, and no link of it leads nowhere."""

import re
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

import pytest

from docs.site import check, stage
from tests.test_references import ROOT, tracked

TOCTREE = re.compile(r"^```\{toctree\}\n(?::[^\n]*\n)*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MODULE = re.compile(r"^\.\. automodule:: (\S+)$(?:\n   :exclude-members: (.*)$)?", re.MULTILINE)


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    stage.stage(folder)
    return folder


def pages(sources: Path) -> list[Path]:
    return [place for suffix in ("md", "rst") for place in sources.rglob(f"*.{suffix}")]


def listed(page: Path) -> list[Path]:
    """The pages that the tables of contents of `page` name."""
    blocks = TOCTREE.findall(page.read_text())
    return [page.parent / name for block in blocks for name in block.split()]


def test_each_document_is_in_one_table_of_contents(sources):
    tables = [sources / "index.md", *(sources / f"docs/{x}/index.md" for x in ("adr", "lessons"))]
    names = [place.relative_to(sources).as_posix() for page in tables for place in listed(page)]
    assert len(set(names)) == len(names)
    documents = {name.removesuffix(".md") for name in tracked() if re.match(r"docs/.*\.md$", name)}
    assert documents | {"CONTRIBUTING", "CHANGELOG"} <= set(names)
    sources_of = {place.with_suffix("").as_posix() for place in stage.documents()}
    assert documents | {"CONTRIBUTING", "CHANGELOG", "README"} == sources_of
    made = {place.relative_to(sources).with_suffix("").as_posix() for place in pages(sources)}
    assert set(names) <= made


def test_each_public_name_has_a_page(sources):
    """The page has its module, and the module's page has all but what another page has."""
    rooms = {place.stem: place.read_text() for place in (sources / stage.API).glob("*.rst")}
    shown = {
        module: set(left_out.split(", ")) if left_out else set()
        for page in rooms.values()
        for module, left_out in MODULE.findall(page)
    }
    listing = [
        name
        for name in tracked()
        if name.startswith(("isa/", "hw/", "sw/", "sim/"))
        and name.endswith(".py")
        and re.search(r"^__all__ = ", (ROOT / name).read_text(), re.MULTILINE)
    ]
    assert len(listing) > 500
    homes = Counter(public for name in listing for public in stage.public(ROOT / name))
    for name in listing:
        module = f"celosia.{name.removesuffix('.py').removesuffix('/__init__').replace('/', '.')}"
        assert module in shown
        assert shown[module] <= set(stage.public(ROOT / name))
        assert all(homes[passed_on] > 1 for passed_on in shown[module])
    index = (sources / stage.API / "index.rst").read_text()
    assert set(rooms) - {"index"} == set(re.findall(r"^   (celosia\S*)$", index, re.MULTILINE))


def test_a_document_without_a_topic_is_in_a_table_of_its_own(monkeypatch):
    more = [*stage.documents(), Path("docs/zebra.md")]
    monkeypatch.setattr(stage, "documents", lambda: more)
    tables = "".join(stage._contents())
    assert ":caption: More\n:maxdepth: 1\n\ndocs/zebra\n" in tables
    assert tables.count("docs/zebra") == 1


def test_the_page_that_runs_the_rtl_is_linked_if_it_was_built(monkeypatch, tmp_path):
    page = tmp_path / "index.html"
    monkeypatch.setattr(stage, "BUILT_PAGE", page)
    assert "page/index.html" not in stage.sources()
    page.write_bytes(b"<p>RTL")
    found = stage.sources()
    assert found["page/index.html"] == b"<p>RTL"
    assert b"<page/index.html>" in found["index.md"]


def test_a_name_that_is_passed_on_is_left_out_beside_its_own_page(tmp_path):
    module = tmp_path / "a.py"
    module.write_text(
        "from celosia.isa.config import AcceleratorConfig, dataclass\n"
        '__all__ = ["A", "AcceleratorConfig", "dataclass"]\nA = 1\n'
    )
    assert stage.public(module) == ["A", "AcceleratorConfig", "dataclass"]
    assert stage.passed_on(module) == {"AcceleratorConfig"}


def test_values_without_a_docstring_are_found_with_what_is_written(tmp_path):
    module = tmp_path / "a.py"
    module.write_text(
        '__all__ = ["BITS", "LONG", "SAID", "Kind", "f"]\n'
        "BITS: Final = 1 << 4\nHIDDEN = 1\nSAID = 2\n"
        '"""Two."""\n'
        f"LONG = {list(range(99))}\nKind = int | str\ndef f():\n    pass\n"
    )
    assert stage.unexplained(module) == {"BITS": "1 << 4", "LONG": "", "Kind": "int | str"}


def test_a_value_without_a_docstring_has_an_entry(sources):
    page = (sources / stage.API / "celosia.isa.rst").read_text()
    module = page.partition(".. automodule:: celosia.isa.address\n")[2].partition(".. automodule")[
        0
    ]
    assert re.search(r"^\.\. py:data:: ROW_BITS\n   :value: \d+$", module, re.MULTILINE)
    assert "GARBAGE" not in module  # It has a docstring, which Sphinx finds.


def test_links_of_sources_lead_to_copies_of_files_and_to_pages_of_folders(sources):
    assert (sources / "docs/images/wave.png").is_file()
    assert (sources / "LICENSE").is_file()
    index = (sources / "index.md").read_text()
    assert "[docs/adr](docs/adr/index.md)" in index
    assert "](docs/tutorial.md)" in index
    assert not re.search(
        r"\]\((?:\.\./)*README\.md",
        "".join(each.read_text() for each in (sources / "docs").rglob("*.md")),
    )


def test_a_broken_link_of_a_site_is_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#x">1</a><a href="b.html#y">2</a><a href="c.html">3</a>'
        '<a href="https://elsewhere/">4</a><a href="#top">5</a><p id="top"><img src="d%20e.png">'
    )
    (tmp_path / "b.html").write_text('<h1 id="x">X</h1>')
    (tmp_path / "d e.png").touch()
    count, wrong = check.broken(tmp_path)
    assert count == 5
    assert wrong == [
        "a.html: b.html#y: the page has no such anchor",
        "a.html: c.html: there is no such file",
    ]


@pytest.mark.nightly
def test_the_site_is_built_without_a_warning(sources, tmp_path):
    pytest.importorskip("sphinx", reason="pip install -r requirements/documents.txt")
    words = ["-q", "-W", "--keep-going", "-c", "docs/site", "-d", str(tmp_path / "cache")]
    build = [sys.executable, "-m", "sphinx", *words, str(sources), str(tmp_path / "html")]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    count, wrong = check.broken(tmp_path / "html")
    assert not wrong
    assert count > 10_000
    assert "Scratchpad" in (tmp_path / "html/searchindex.js").read_text()
    known = (tmp_path / "html/objects.inv").read_bytes().split(b"zlib.\n", 1)[1]
    shown = {line.split()[0] for line in zlib.decompress(known).decode().splitlines()}
    for name in (each for modules in stage.rooms().values() for each in modules):
        file = stage.module_file(name)
        assert {
            f"{name}.{each}" for each in set(stage.public(file)) - stage.passed_on(file)
        } <= shown
