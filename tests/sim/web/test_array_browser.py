"""The array in a real browser: cycles that one goes through, blocks, and challenges."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from celosia.isa.encoding import FENCE, MVIN, REPEAT
from celosia.isa.memory import MemoryTiming
from celosia.sim.verilator.wasm.modules import wasm_module
from celosia.sim.web.assembly import example_text
from celosia.sim.web.challenges import CHALLENGES, pose
from celosia.sim.web.page import page_text
from celosia.sim.web.programs import MACHINES, PROGRAMS
from celosia.sim.web.recorded import record
from celosia.sw.driver.assembly import format_command, format_commands
from tests.support.chromium import Page, open_page
from tests.support.wasm_node import IN_A_BROWSER

pytestmark = IN_A_BROWSER

TINY = MACHINES[0]
SIZES = [(390, 844), (1440, 900)]


@pytest.fixture(scope="module")
def programs():
    names = ("small-product", "product")
    return {name: record(PROGRAMS[name].make(), TINY.config, MemoryTiming()) for name in names}


@pytest.fixture(scope="module")
def posed():
    return {name: pose(each, TINY.config) for name, each in CHALLENGES.items()}


@pytest.fixture(scope="module")
def index(programs, posed, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("page") / "index.html"
    module = wasm_module(TINY.config).read_bytes()
    path.write_text(page_text({"tiny": module}, {"tiny": programs}, posed))
    return path


@pytest.fixture(scope="module")
def browser():
    with open_page() as page:
        yield page


def press(page: Page, name: str) -> None:
    page.tell(f"document.getElementById('{name}').click()")


def text(page: Page, name: str) -> str:
    return page.tell(f"document.getElementById('{name}').textContent")


def cycle(page: Page) -> int:
    return int(page.tell("document.getElementById('array').dataset.cycle"))


def at_cycle(page: Page, number: int) -> None:
    page.until(f"document.getElementById('array').dataset.cycle === '{number}'")


def go(page: Page, number: int) -> None:
    """Goes to a cycle, by its number."""
    page.tell(f"void (document.getElementById('at-cycle').value = '{number}')")
    page.tell("document.getElementById('at-cycle').dispatchEvent(new Event('change'))")
    at_cycle(page, number)


def opened(page: Page, index: Path, *, width: int = 1440, dark: bool = False, calm=False) -> None:
    page.resize(width, 900, dark=dark, calm=calm)
    page.go(index)
    page.until("document.getElementById('array').dataset.opened === '1'")


def numbers(page: Page) -> list[dict[str, int]]:
    """What is in the cells, row by row."""
    script = (
        "[...document.querySelectorAll('.cell')].map((cell) => Object.fromEntries("
        "[...cell.children].map((part) => [part.classList[0], part.textContent])))"
    )
    return [
        {name: int(value.replace(",", "")) for name, value in cell.items()}
        for cell in page.tell(script)
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_visitor_steps_through_a_product(index, programs, browser, width, height, dark, tmp_path):
    opened(browser, index, width=width, dark=dark, calm=dark)
    cycles = programs["small-product"].cycles
    assert text(browser, "array-status") == (
        f"A product of 8x8x8: {cycles} cycles. "
        "The native simulator took as many, and left the same memory."
    )
    begin, before = cycle(browser), numbers(browser)
    for step in range(1, 12):
        press(browser, "step")
        at_cycle(browser, begin + step)
        # A cell as its definition has it, from what was shown a cycle before.
        now = numbers(browser)
        for place, cell in enumerate(now):
            above = before[place - 4]["sum"] if place >= 4 else 0
            assert cell["sum"] == above + cell["activation"] * before[place]["weight"]
            assert cell["weight"] in (before[place]["weight"], before[place]["shadow"])
            if place % 4:
                assert cell["activation"] == before[place - 1]["activation"]
        before = now
    assert any(cell["sum"] for cell in before)
    browser.tell("document.querySelector('.block[data-name=scratchpad]').click()")
    assert "hw/memory/scratchpad.py" in text(browser, "block-says")
    browser.tell("document.querySelectorAll('.cell')[5].click()")
    said = r"Row 1, column 1: (\S+) \S (\S+) \+ (\S+), .* = ([-\d,]+)\."
    found = re.match(said, text(browser, "cell-says"))
    assert found
    a, w, above, total = (int(each.replace(",", "")) for each in found.groups())
    assert a * w + above == total == before[5]["sum"]
    assert browser.tell("document.documentElement.scrollWidth") <= width
    browser.picture(tmp_path / "array.png")
    assert (tmp_path / "array.png").stat().st_size > 10_000
    assert browser.errors == []


def test_one_goes_forth_and_back_to_cycles_and_commands(index, programs, browser):
    opened(browser, index)
    go(browser, 100)
    shown = numbers(browser)
    press(browser, "step")
    at_cycle(browser, 101)
    press(browser, "back")
    at_cycle(browser, 100)
    assert numbers(browser) == shown
    cycles = programs["small-product"].cycles
    for key, where in (("End", cycles), ("ArrowLeft", cycles - 1), ("Home", 1), ("ArrowRight", 2)):
        browser.tell(
            "void document.getElementById('play').dispatchEvent("
            f"new KeyboardEvent('keydown', {{ key: '{key}', bubbles: true }}))"
        )
        at_cycle(browser, where)
    texts = list(format_commands(programs["small-product"].commands))
    items = browser.tell("document.querySelectorAll('#commands > li').length")
    assert items == len(texts)
    number = next(place for place, each in enumerate(texts) if each.startswith("products"))
    item = f"document.querySelectorAll('#commands > li')[{number}]"
    assert browser.tell(f"{item}.querySelector('button').textContent") == texts[number]
    taken = int(browser.tell(f"{item}.querySelector('button').dataset.to"))
    browser.tell(f"{item}.querySelector('button').click()")
    at_cycle(browser, taken)
    assert browser.tell(f"{item}.getAttribute('aria-current')") == "step"
    turn = int(browser.tell(f"{item}.querySelector('small button').dataset.to"))
    browser.tell(f"{item}.querySelector('small button').click()")
    at_cycle(browser, turn)
    assert turn > taken


def test_it_plays_and_pauses(index, browser):
    opened(browser, index)
    go(browser, 50)
    browser.tell("void (document.getElementById('speed').value = '20')")
    press(browser, "play")
    assert text(browser, "play") == "Pause"
    browser.until("document.getElementById('array').dataset.cycle > 53")
    press(browser, "play")
    assert text(browser, "play") == "Play"
    here = cycle(browser)
    browser.tell("new Promise((done) => setTimeout(done, 300))")
    assert cycle(browser) == here
    # It ends with the program.
    press(browser, "end")
    press(browser, "play")
    browser.until("document.getElementById('play').textContent === 'Play'")


def test_what_moves_is_seen_to_move_unless_the_visitor_wants_calm(index, browser):
    moves = "document.getElementById('cells').getAnimations({ subtree: true }).length"
    for calm in (False, True):
        opened(browser, index, calm=calm)
        # The first row of A is on its way.
        go(browser, cycle(browser) + 5)
        moving = browser.tell(f"(document.getElementById('step').click(), {moves})")
        assert (moving > 0) is not calm


def test_cycles_beyond_those_that_are_kept_are_simulated_again(index, programs, browser):
    opened(browser, index)
    browser.tell("void (document.getElementById('watched').value = 'product')")
    browser.tell("document.getElementById('watched').dispatchEvent(new Event('change'))")
    browser.until("document.getElementById('array').dataset.opened === '2'")
    first = cycle(browser), numbers(browser)
    cycles = programs["product"].cycles
    assert cycles > 2 * json.loads(text(browser, "page-data"))["array"]["cycles"]
    go(browser, cycles // 2)
    assert numbers(browser) != first[1]
    go(browser, cycles)
    go(browser, first[0])
    assert numbers(browser) == first[1]
    browser.tell("void (document.getElementById('at-cycle').value = '99999999')")
    browser.tell("document.getElementById('at-cycle').dispatchEvent(new Event('change'))")
    at_cycle(browser, cycles)
    assert browser.errors == []


def test_blocks_and_owners_are_lit_in_the_words_of_a_report(index, browser):
    opened(browser, index)
    browser.tell("document.querySelector('#commands small button').click()")
    press(browser, "step")
    browser.until("document.querySelector('.block[data-name=array]').classList.contains('lit')")
    assert browser.tell("document.querySelector('.block[data-name=array] i').textContent") == "rows"
    lines = "[...document.querySelectorAll('#array-owners li')].map((each) => each.innerText)"
    owners = browser.tell(lines)
    assert owners[0].startswith("The array: rows A row of A enters the array")
    assert len(owners) == 4
    press(browser, "begin")
    at_cycle(browser, 1)
    # The first command is taken, and nothing is busy yet.
    assert "Nothing is busy." in text(browser, "array-owners")


def written(page: Page, source: str) -> str:
    """What is said of a program for the challenge that is shown."""
    tries = int(page.tell("document.getElementById('challenges').dataset.tries || 0"))
    page.tell(f"void (document.getElementById('challenge-source').value = {json.dumps(source)})")
    press(page, "try")
    page.until(f"document.getElementById('challenges').dataset.tries === '{tries + 1}'")
    return text(page, "challenge-status")


def test_challenges_are_won_with_the_compilers_answer(index, posed, browser):
    opened(browser, index)
    for name, each in posed.items():
        browser.tell(f"void (document.getElementById('challenge').value = '{name}')")
        browser.tell("document.getElementById('challenge').dispatchEvent(new Event('change'))")
        said = written(browser, browser.tell("document.getElementById('challenge-source').value"))
        bound, cycles = each.answer.cycles, each.cycles
        assert said == f"{cycles:,} cycles, the right results: {cycles - bound:,} too many."
        said = written(browser, text(browser, "answer"))
        assert said == f"{bound:,} cycles: as fast as the compiler. Done!"
    assert browser.errors == []


def test_what_goes_wrong_in_a_challenge_is_a_sentence(index, posed, browser):
    opened(browser, index)
    assert "but other results in memory." in written(browser, "fence\n")
    wild = MVIN.encode(dram=0x1000, local=0, local_cols=4, local_rows=4)
    said = written(browser, f"fence\n\n{format_command(wild)}\n")
    assert said.startswith("READ_LIMIT: a read outside the permitted range")
    assert said.endswith("at address 0x1000, line 3.")
    endless = [REPEAT.encode(count=(1 << 16) - 1, length=2)]
    endless += [REPEAT.encode(count=(1 << 16) - 1, length=1), FENCE.encode()]
    said = written(browser, "\n".join(format_commands(endless)))
    assert said.startswith("it was stopped after 200,000 cycles, command number ")
    browser.tell("void (document.getElementById('challenge-source').value = 'mvim dram=1')")
    press(browser, "try")
    errors = "document.getElementById('challenge-errors').textContent"
    assert browser.tell(errors).startswith("line 1: there is no instruction 'mvim'")
    assert "as fast as" in written(browser, text(browser, "answer"))
    assert browser.tell(errors) == ""


def own(page: Page, source: str) -> Any:
    page.tell("void (document.getElementById('editor').open = true)")
    page.tell(f"void (document.getElementById('source').value = {json.dumps(source)})")
    press(page, "watch-own")


def test_a_program_of_ones_own_is_watched(index, browser):
    opened(browser, index)
    own(browser, example_text())
    browser.until("document.getElementById('array').dataset.opened === '2'")
    assert text(browser, "array-status").startswith("Your own: ")
    commands = [line for line in example_text().splitlines() if line[0] not in "#."]
    shown = browser.tell("[...document.querySelectorAll('#commands > li')].map((e) => e.innerText)")
    assert [line.split("\n")[0].split("in the array")[0].strip() for line in shown] == commands
    assert any("in the array" in line for line in shown)
    own(browser, "fence\nmvim\n")
    assert "there is no instruction 'mvim'" in text(browser, "errors")
    own(browser, ".preset base\nfence\n")
    assert text(browser, "array-status").startswith("Only programs for tiny can be looked at")


def test_an_endless_program_and_a_wild_address_are_watched_to_where_they_stop(index, browser):
    opened(browser, index)
    own(browser, ".preset tiny\nfence\nmvin dram=4096 local_cols=4 local_rows=4\n")
    browser.until("document.getElementById('array').dataset.opened === '2'")
    assert "READ_LIMIT" in text(browser, "array-status")
    assert "(command number 1, from 0)" in text(browser, "array-status")
    assert cycle(browser) >= 1
    own(browser, ".preset tiny\nrepeat count=65535 length=2\nrepeat count=65535 length=1\nfence\n")
    browser.until("document.getElementById('array').dataset.opened === '3'")
    assert "it was stopped after 200,000 cycles" in text(browser, "array-status")
    press(browser, "end")
    browser.until("document.getElementById('array').dataset.cycle > 190000")
    browser.tell("document.getElementById('watched').dispatchEvent(new Event('change'))")
    browser.until("document.getElementById('array').dataset.opened === '4'")
    assert "The native simulator took as many" in text(browser, "array-status")
    assert browser.errors == []
