"""How soon a page shows something, and how fast it simulates: `pytest -s` prints it."""

import time
from contextlib import closing

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.verilator.wasm.modules import wasm_module
from celosia.sim.web.page import build_page, page_text
from celosia.sim.web.programs import MACHINES, PROGRAMS
from celosia.sim.web.recorded import MEMORY_BYTES, record
from celosia.sw.models.cases import matmul_case
from tests.support.chromium import open_page
from tests.support.visitor import run, write
from tests.support.wasm_node import IN_A_BROWSER

pytestmark = IN_A_BROWSER
BASE = MACHINES[-1]
TURNS = 3
"""Each simulates so often, in turn; the fastest turn counts."""


def number(text):
    return int(text.replace(",", ""))


def test_a_page_takes_the_cycles_of_the_native_simulator_and_says_how_fast(tmp_path):
    usual = MemoryTiming()
    found = record(matmul_case(256, 256, 512, 0), BASE.config, usual)
    module, path = wasm_module(BASE.config).read_bytes(), tmp_path / "index.html"
    path.write_text(page_text({BASE.preset: module}, {BASE.preset: dict.fromkeys(PROGRAMS, found)}))
    here, native = [], []
    with closing(VerilatorDevice(BASE.config, usual, MEMORY_BYTES)) as device, open_page() as page:
        page.go(path)
        page.until("document.body.dataset.runs === '1'")
        for _ in range(TURNS):
            cycles, expected, equal, speed = run(page)
            assert (number(cycles), number(expected), equal) == (
                found.cycles,
                found.cycles,
                "equal",
            )
            here.append(number(speed))
            device.write(MEMORY_BASE, found.memory)
            begin = time.perf_counter()
            assert device.run(found.commands).cycles == found.cycles
            native.append(found.cycles / (time.perf_counter() - begin))
    print(
        f"\n{found.cycles:,} cycles of a product: {max(here):,} a second in Chromium, "
        f"{max(native):,.0f} natively: {max(here) / max(native):.2f}"
    )


_PAINTED = "performance.getEntriesByName('first-contentful-paint')[0].startTime / 1000"
_SINCE = "performance.now() / 1000"


def test_what_a_visitor_waits_for_is_said(tmp_path):
    path = tmp_path / "index.html"
    path.write_text(build_page())
    with open_page() as page:
        for visit in ("first", "next"):
            page.resize(1440, 900)
            page.go(path)
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
