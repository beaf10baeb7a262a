"""Memories are found wherever they are in the hierarchy."""

from celosia.sim.export.inventory import FoundMemory, find_memories

TEXT = """\
module top(clk, rst
, i);
  reg [7:0] \\odd.name [3:0];
  reg [7:0] plain;
  \\top.a  a (
    .clk(clk)
  );
  \\top.a  \\a$1 (
    .clk(clk)
  );
  box rows (
    .clk(clk)
  );
endmodule

module \\top.a (clk);
  reg [31:0] queue [15:0];
  always @(posedge clk) begin
    if (clk)
      queue[0] <= 0;
  end
endmodule
"""


def test_memories_are_found():
    assert find_memories(TEXT, "top", ["box"]) == [
        FoundMemory("odd.name", None, 4, 8),
        FoundMemory("a.queue", None, 16, 32),
        FoundMemory("a$1.queue", None, 16, 32),
        FoundMemory("rows", "box"),
    ]


def test_a_design_without_memories():
    assert find_memories("module top(a);\nendmodule\n", "top", []) == []
