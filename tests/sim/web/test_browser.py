"""The page in a real browser, from a file: what a first visitor does, and what goes wrong."""

import json
from contextlib import closing

import pytest

from celosia.isa.encoding import FENCE, MVIN, REPEAT, Command
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.verilator.wasm.modules import wasm_module
from celosia.sim.web.assembly import example_text
from celosia.sim.web.page import page_text
from celosia.sim.web.programs import MACHINES, PROGRAMS
from celosia.sim.web.recorded import Recording, record
from celosia.sw.driver.program_file import parse_program
from tests.support.chromium import open_page
from tests.support.wasm_node import IN_A_BROWSER

pytestmark = IN_A_BROWSER
TINY = MACHINES[0]
SIZES = [(390, 844), (1440, 900)]


def plain(commands: list[Command]) -> Recording:
    """A program that nobody has run."""
    return Recording(memory=bytes(64), commands=tuple(commands), cycles=1, digest="")


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """A page of `tiny` with two programs, one that touches what it may not, and an endless one."""
    usual, names = MemoryTiming(), list(PROGRAMS)
    programs = {
        name: record(PROGRAMS[name].make(), TINY.config, usual) for name in ("product", "softmax")
    }
    wild = MVIN.encode(dram=0x1000, local=0, local_cols=4, local_rows=4)
    endless = [REPEAT.encode(count=(1 << 16) - 1, length=2)]
    endless += [REPEAT.encode(count=(1 << 16) - 1, length=1), FENCE.encode()]
    programs[names[1]] = plain([FENCE.encode(), wild])
    programs[names[2]] = plain(endless)
    path = tmp_path_factory.mktemp("page") / "index.html"
    module = wasm_module(TINY.config).read_bytes()
    path.write_text(page_text({"tiny": module}, {"tiny": programs}))
    return path


@pytest.fixture(scope="module")
def browser():
    with open_page() as page:
        yield page


def run_of(page, **choices):
    """The texts of the tiles after a run with these choices."""
    for name, value in choices.items():
        page.tell(f"void (document.getElementById('{name}').value = {json.dumps(value)})")
    runs = int(page.tell("document.body.dataset.runs"))
    page.tell("document.getElementById('run').click()")
    page.until(f"document.body.dataset.runs === '{runs + 1}'")
    return page.tell("[...document.querySelectorAll('.tile b')].map((each) => each.textContent)")


def status(page):
    return page.tell("document.getElementById('status').textContent")


def opened(page, index, query=""):
    page.go(index, query)
    page.until("document.body.dataset.runs === '1'")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_a_first_visitor_sees_a_run_that_equals_the_native_one(
    index, browser, width, height, dark, tmp_path
):
    browser.resize(width, height, dark=dark, calm=dark)
    opened(browser, index)
    tiles = browser.tell("[...document.querySelectorAll('.tile b')].map((e) => e.textContent)")
    assert tiles[0] == tiles[1]
    assert tiles[2] == "equal"
    assert status(browser) == "Done."
    assert browser.tell("document.querySelectorAll('.unit').length") == 4
    assert browser.tell("document.documentElement.scrollWidth") <= width
    browser.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 10_000
    assert browser.errors == []


def test_another_memory_takes_the_cycles_that_it_takes_natively(index, browser):
    slow = MemoryTiming(latency=100, bytes_per_cycle=1)
    expected = record(PROGRAMS["softmax"].make(), TINY.config, slow)
    opened(browser, index, "?program=softmax")
    tiles = run_of(browser, latency="100", rate="1")
    assert tiles[0] == f"{expected.cycles:,}"
    assert tiles[2] == "equal"
    rows = browser.tell(
        "[...document.querySelectorAll('#history tbody tr')].map((e) => e.innerText)"
    )
    assert len(rows) == 2
    assert "times as many" in rows[0]
    assert "the same" in rows[1]


def test_a_wild_address_is_a_sentence_and_the_page_goes_on(index, browser):
    opened(browser, index)
    run_of(browser, program=list(PROGRAMS)[1])
    assert status(browser) == (
        "READ_LIMIT: a read outside the permitted range of memory at address 0x1000; "
        "the command is number 1 (from 0; loops expanded), of 2 in the program."
    )
    assert run_of(browser, program="product")[2] == "equal"


def test_an_endless_program_stops_at_its_budget_and_the_page_goes_on(index, browser):
    opened(browser, index)
    tiles = run_of(browser, program=list(PROGRAMS)[2], budget="30000")
    assert tiles[2] == "not compared"
    assert status(browser).startswith("it was stopped after 30,000 cycles; the command is number ")
    assert run_of(browser, program="product", budget="5000000")[2] == "equal"


def test_a_run_is_stopped_by_hand_and_the_next_one_works(index, browser):
    opened(browser, index)
    browser.tell(f"void (document.getElementById('program').value = '{list(PROGRAMS)[2]}')")
    browser.tell("void (document.getElementById('budget').value = '900000000')")
    browser.tell("document.getElementById('run').click()")
    browser.until("document.getElementById('status').textContent.endsWith('cycles')")
    browser.tell("document.getElementById('stop').click()")
    assert status(browser) == "Stopped."
    assert run_of(browser, program="product")[2] == "equal"


def test_the_keyboard_is_enough(index, browser):
    opened(browser, index)
    browser.tell("document.getElementById('program').focus()")
    browser.press("Tab")
    assert browser.tell("document.activeElement.id") == "preset"
    browser.tell("document.getElementById('run').focus()")
    browser.press("Enter")
    browser.until("document.body.dataset.runs === '2'")
    browser.until("document.activeElement.id === 'run'")


def test_without_webassembly_there_is_a_sentence(index, browser, tmp_path):
    text = index.read_text().replace("<script>\n", "<script>\ndelete globalThis.WebAssembly;\n", 1)
    path = tmp_path / "index.html"
    path.write_text(text)
    browser.go(path)
    browser.until("document.getElementById('status').textContent !== ''")
    assert status(browser).startswith("This browser has no WebAssembly, on which")
    assert browser.tell("document.getElementById('run').disabled")


def assembled(page, text):
    """Runs a text in the editor."""
    page.tell("void (document.getElementById('editor').open = true)")
    page.tell(f"void (document.getElementById('source').value = {json.dumps(text)})")
    page.tell("document.getElementById('assemble').click()")


def test_the_example_runs_and_its_results_are_shown(index, browser):
    opened(browser, index)
    assembled(browser, example_text())
    browser.until("document.body.dataset.runs === '2'")
    shown = browser.tell("document.getElementById('checked').innerText").splitlines()
    values = [int(pair, 16) for line in shown for pair in line.split()[1:]]
    numbers = [int.from_bytes(bytes(values[at : at + 4]), "little") for at in range(0, 64, 4)]
    assert numbers == [2 * number for number in range(1, 17)]
    program = parse_program(example_text())
    with closing(VerilatorDevice(TINY.config, MemoryTiming(), program.memory_bytes)) as device:
        device.write(MEMORY_BASE, program.memory_image())
        cycles = device.run(program.commands).cycles
    assert browser.tell("document.querySelector('.tile b').textContent") == f"{cycles:,}"


def test_a_mistake_has_its_line_and_nothing_runs(index, browser):
    opened(browser, index)
    assembled(browser, "fence\nmvim dram=1\nfence now\n")
    errors = browser.tell("[...document.querySelectorAll('#errors li')].map((e) => e.textContent)")
    assert errors[0].startswith("line 2: there is no instruction 'mvim'; there are ")
    assert errors[1] == "line 3: fence: 'now': write operands as field=value"
    assert browser.tell("document.body.dataset.runs") == "1"


def test_a_wild_address_of_ones_own_has_its_line(index, browser):
    opened(browser, index)
    assembled(browser, ".preset tiny\nfence\n\nmvin dram=4096 local_cols=4 local_rows=4\n")
    browser.until("document.body.dataset.runs === '2'")
    assert status(browser).endswith(
        "number 1 (from 0; loops expanded), line 4, of 2 in the program."
    )


@pytest.mark.parametrize(
    "query", ["?budget=many", "?budget=-3", "?program=none&preset=huge&rate=3"]
)
def test_an_address_that_asks_for_nonsense_begins_as_usual(index, browser, query):
    opened(browser, index, query)
    assert status(browser) == "Done."


def test_without_a_budget_nothing_runs(index, browser):
    opened(browser, index)
    browser.tell("void (document.getElementById('budget').value = '')")
    assembled(browser, example_text())
    browser.tell("document.getElementById('run').click()")
    browser.tell("void (document.getElementById('budget').value = '1000')")
    assert browser.tell("document.body.dataset.runs") == "1"
    assert run_of(browser, program="product")[2] == "not compared"
