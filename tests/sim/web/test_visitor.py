"""A first visitor of the page, in a real browser, on a phone and on a desk, dark and light."""

import base64
import gzip
import re

import pytest

from celosia.isa.memory import MemoryTiming
from celosia.sim.verilator.wasm.modules import wasm_module
from celosia.sim.web.challenges import CHALLENGES, pose
from celosia.sim.web.page import page_text
from celosia.sim.web.programs import MACHINES, PROGRAMS
from celosia.sim.web.recorded import record
from tests.support.chromium import open_page
from tests.support.text_node import shipped_part
from tests.support.visitor import ACTIONS, run, texts, type_in, write
from tests.support.wasm_node import IN_A_BROWSER

pytestmark = IN_A_BROWSER


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """The page of `tiny` and `base`, with two programs, challenges and the language model."""
    machines, usual = [MACHINES[0], MACHINES[-1]], MemoryTiming()
    recorded = {
        each.preset: {
            name: record(PROGRAMS[name].make(), each.config, usual)
            for name in ("product", "softmax")
        }
        for each in machines
    }
    for programs in recorded.values():
        programs |= {name: programs["product"] for name in PROGRAMS if name not in programs}
    compiled = {each.preset: wasm_module(each.config).read_bytes() for each in machines}
    path = tmp_path_factory.mktemp("page") / "index.html"
    posed = {name: pose(each, machines[0].config) for name, each in CHALLENGES.items()}
    path.write_text(page_text(compiled, recorded, posed, text=shipped_part()))
    return path


@pytest.fixture(scope="module")
def browser():
    with open_page() as page:
        yield page


def test_there_are_twelve_actions_and_more():
    assert len(ACTIONS) >= 12


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1440, 900)])
def test_a_first_visitor_does_all_that_there_is(index, browser, width, height, dark, tmp_path):
    browser.errors.clear()
    browser.resize(width, height, dark=dark, calm=dark)
    browser.go(index)
    for number, (name, act) in enumerate(ACTIONS.items()):
        act(browser)
        assert browser.tell("document.documentElement.scrollWidth") <= width, name
        assert browser.errors == [], name
        picture = tmp_path / f"{number:02}-{name.replace(' ', '-')}.png"
        browser.picture(picture)
        assert picture.stat().st_size > 10_000


def test_a_page_without_a_model_has_no_text(index, browser, tmp_path):
    tiny, usual = MACHINES[0], MemoryTiming()
    found = record(PROGRAMS["small-product"].make(), tiny.config, usual)
    module = wasm_module(tiny.config).read_bytes()
    path = tmp_path / "index.html"
    path.write_text(page_text({"tiny": module}, {"tiny": dict.fromkeys(PROGRAMS, found)}))
    browser.errors.clear()
    browser.go(path)
    browser.until("document.body.dataset.runs === '1'")
    assert texts(browser, "nav a") == ["Array", "Programs", "Assembly"]
    assert not texts(browser, "#text")
    assert browser.errors == []


NO_GZIP = base64.b64encode(b"neither a model nor a simulator").decode()
OTHER = base64.b64encode(gzip.compress(b"something else" * 1000)).decode()


def with_part(index, path, part, change):
    """The page with what `change` makes of one of its parts."""
    text = index.read_text()
    found = re.search(f'<script type="text/plain" id="{part}">(.*?)</script>', text, re.DOTALL)
    assert found
    begin, end = found.span(1)
    path.write_text(text[:begin] + change(found[1]) + text[end:])
    return path


@pytest.mark.parametrize(
    "change",
    [lambda _: "", lambda _: "!", lambda _: NO_GZIP, lambda _: OTHER, lambda part: part[:10000]],
    ids=["nothing", "no base64", "no gzip", "other bytes", "the beginning"],
)
def test_a_damaged_part_of_the_page_is_a_sentence_and_the_page_goes_on(
    index, browser, change, tmp_path
):
    browser.errors.clear()
    browser.go(with_part(index, tmp_path / "model.html", "text-data", change))
    said = "in this page is damaged. Get the page again, and open that."
    assert write(browser) == f"The language model {said}"
    assert run(browser, program="softmax")[2] == "equal"
    browser.go(with_part(index, tmp_path / "module.html", "module-base", change))
    type_in(browser, preset="base")
    for _ in range(2):
        browser.until("!document.getElementById('run').disabled")
        browser.tell("document.getElementById('run').click()")
        browser.until("document.getElementById('status').className.includes('wrong')")
        assert texts(browser, "#status") == [
            f"The simulator has failed: The simulator of base {said}"
        ]
    assert run(browser, preset="tiny")[2] == "equal"
    assert browser.errors == []
