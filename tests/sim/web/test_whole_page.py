"""The page as `celosia page` makes it: what a visitor waits for, and all that runs in a browser."""

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.sim.web.page import build_page
from celosia.sim.web.programs import MACHINES, PROGRAMS
from celosia.sim.web.recorded import record
from celosia.sim.web.text.written import EXAMPLE
from tests.support.chromium import open_page
from tests.support.visitor import run, texts, write
from tests.support.wasm_node import IN_A_BROWSER

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "index.html"
    path.write_text(build_page())
    return path


_PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
_SINCE = "performance.now() / 1000"


def test_what_a_visitor_waits_for_is_said(index):
    """`pytest -s` prints it."""
    with open_page() as page:
        for visit in ("first", "next"):
            page.resize(1440, 900)
            page.go(index)
            page.until("performance.getEntriesByName('first-contentful-paint').length === 1")
            painted = page.tell(_PAINTED)
            page.until("document.getElementById('array').dataset.opened === '1'")
            array = page.tell(_SINCE)
            page.until("document.body.dataset.runs === '1'")
            program, begin = page.tell(_SINCE), page.tell(_SINCE)
            assert write(page, tokens="1").startswith("Done")
            print(
                f"\n{visit} visit: first picture {painted:.2f} s, cells of the array {array:.2f} s,"
                f" first program {program:.2f} s; first token {page.tell(_SINCE) - begin:.2f} s"
                " behind the press"
            )
        assert page.errors == []


def test_all_programs_and_a_text_are_those_of_the_native_simulator(index):
    """Cycles, and the digest of memory, which the page compares with that of the native run."""
    with open_page() as page:
        page.go(index)
        page.until("document.body.dataset.runs === '1'")
        for machine in MACHINES:
            for name, choice in PROGRAMS.items():
                found = record(choice.make(), machine.config, MemoryTiming())
                tiles = run(page, preset=machine.preset, program=name, budget="100000000")
                assert tiles[:3] == [f"{found.cycles:,}"] * 2 + ["equal"], (machine.preset, name)
        assert write(page).startswith("Done")
        assert 8 <= len(texts(page, "#text-written button")) <= EXAMPLE.tokens
        assert texts(page, "#text-tiles b")[-1] == "equal"
        assert page.errors == []
