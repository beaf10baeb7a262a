"""Levels of logic between registers, counted by Yosys alone."""

import pytest

from celosia.sim.export.silicon.synthesis.runs import Unreadable
from celosia.sim.export.silicon.synthesis.yosys import find_yosys
from celosia.sim.export.silicon.timing.levels import LEVELS, level_script, read_levels
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.support.cache import CACHE_VARIABLE
from celosia.sim.support.progress import silent

SAID = """
12. Executing LTP pass (find longest path).

Longest topological path in top (length=2):
    0: \\s9_right [19]
    1: $abc$1$n1_ (via $abc$1$blif$2)
    2: \\s10_sum (via $abc$1$blif$3)
"""

CHAINS = """\
module chains(clk, i, o);
  input clk;
  input [15:0] i;
  output [1:0] o;
  reg [4:0] short;
  reg [15:0] long;
  reg odd;
  reg late;
  assign o = {^short, late};
  always @(posedge clk) begin
    short <= i[4:0];
    long <= {16{&i}};
    odd <= short[0] & short[1] & ~short[2];
    late <= odd ^ long[0];
  end
endmodule
"""
"""Between registers two gates, one behind the other; from the inputs four, to the output three."""


def test_what_ltp_says():
    assert read_levels(SAID) == RegisterPath("s9_right[19]", "s10_sum", 2)


@pytest.mark.parametrize("length", ["0", "-1"])
def test_no_gate_between_registers(length):
    assert read_levels(SAID.replace("length=2", f"length={length}")) is None
    assert read_levels("Executing LTP pass (find longest path).\n") is None


def test_only_paths_between_registers_count(tmp_path, monkeypatch):
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    script = level_script(find_yosys(), 1)
    _, kept = script.run(CHAINS, "", silent)
    path = read_levels(kept[LEVELS]["chains"])
    assert path is not None
    assert path.levels == 2
    assert path.begin.startswith("short")


def test_damage_is_seen():
    with pytest.raises(Unreadable):
        level_script(find_yosys(), 1).condense("")
