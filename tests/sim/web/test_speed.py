"""How fast a page simulates: `pytest -s` prints it."""

import time
from contextlib import closing

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.verilator.wasm.modules import wasm_module
from celosia.sim.web.page import page_text
from celosia.sim.web.programs import MACHINES, PROGRAMS
from celosia.sim.web.recorded import MEMORY_BYTES, record
from celosia.sw.models.cases import matmul_case
from tests.support.chromium import open_page
from tests.support.visitor import run
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
