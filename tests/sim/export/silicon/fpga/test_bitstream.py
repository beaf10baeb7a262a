"""The clock and the bitstream of a board, with programs in the places of the tools."""

import sys

import pytest

from celosia.sim.export.silicon.fpga.bitstream import (
    BoardTools,
    Clock,
    build_bitstream,
    make_clock,
    too_fast,
)
from celosia.sim.export.silicon.fpga.boards import BOARDS
from celosia.sim.export.silicon.fpga.implement import Implementation
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent
from tests.support.cells import fake_yosys

BOARD = BOARDS["ulx3s-85f"]

YOSYS = """
assert 'synth_ecp5 -nowidelut -top board' in open('script.ys').read()
open('netlist.json', 'w').write('{}')
"""
PLL = "open('pll.v', 'w').write('module pll();'); print('clkout0 frequency: 19.75 MHz')"
NEXTPNR = """
import json
words = sys.argv
assert words[words.index('--lpf') + 1] == 'board.lpf' and '--out-of-context' not in words
assert 'SITE "G2"' in open('board.lpf').read()
mhz = 20.0 + int(words[words.index('--seed') + 1])
open('board.config', 'w').write(f'config of {mhz}')
json.dump({'fmax': {'c': {'achieved': mhz}}, 'utilization': {}}, open('report.json', 'w'))
"""
PACK = "open('board.bit', 'w').write('bits of ' + open('board.config').read())"


def tool(folder, name, body):
    path = folder / name
    path.write_text(f"#!{sys.executable}\nimport sys\n{body}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def tools(tmp_path, monkeypatch):
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))
    yosys = fake_yosys(tmp_path, YOSYS)
    names = (("nextpnr", NEXTPNR), ("pll", PLL), ("pack", PACK))
    return BoardTools(yosys, *(tool(tmp_path, name, body) for name, body in names))


def test_the_clock_is_what_the_pll_makes(tools, tmp_path):
    assert make_clock(tools, BOARD, 20.0) == Clock(19.75, "module pll();")
    broken = BoardTools(tools.yosys, tools.nextpnr, tool(tmp_path, "no", "pass"), tools.pack)
    with pytest.raises(EnvironmentProblem, match="ecppll makes no clock of 20 MHz"):
        make_clock(broken, BOARD, 20.0)


@pytest.mark.parametrize(
    ("mhz", "tried", "kept"),
    [
        (17.0, {1: 21.0, 2: 22.0}, [b"bits of config of 22.0"]),
        (18.0, {1: 21.0, 2: 22.0, 3: 23.0}, [b"bits of config of 23.0"]),
        (18.5, {1: 21.0, 2: 22.0, 3: 23.0}, []),
    ],
)
def test_the_first_seed_that_is_fast_enough_is_packed(tools, mhz, tried, kept):
    found, clock, bits = [], Clock(mhz, "module pll(); endmodule"), []
    found = build_bitstream("", BOARD, clock, tools, [1, 2, 3], (1, 1.0), silent, bits.append)
    assert found.fmax_mhz == tried
    assert bits == kept
    assert too_fast(clock, found) == (not kept)


def test_a_margin_of_a_fifth():
    found = Implementation({}, {1: 50.0}, None)
    assert not too_fast(Clock(40.0, ""), found)
    assert too_fast(Clock(40.1, ""), found)
