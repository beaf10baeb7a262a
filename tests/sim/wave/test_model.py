"""What is in the waveforms of a Verilator model, as its Verilog says it."""

from celosia.sim.wave.model import hierarchy

VERILOG = r"""module celosia_axi(clk, rst, \data.low , _text);
  input clk;
  wire clk;
  input [15:0] \data.low ;
  wire [15:0] \data.low ;
  wire \_$12 ;
  input [7:0] _text;
  reg [3:0] count = 4'h0;
  \celosia_axi.part  part (
    .clk(clk)
  );
  \celosia_axi.part.deep  \deep$1  (
    .clk(clk)
  );
endmodule

module \celosia_axi.part (clk);
  input clk;
  reg signed [3:0] \state[1] ;
  \celosia_axi.part.deep  deep (
    .clk(clk)
  );
endmodule

module \celosia_axi.part.deep (clk);
  input clk;
endmodule
"""


def test_hierarchy():
    assert hierarchy(VERILOG) == {
        "celosia_axi": {"clk": 1, "data.low": 16, "count": 4},
        "celosia_axi.part": {"clk": 1, "state[1]": 4},
        "celosia_axi.part.deep": {"clk": 1},
        "celosia_axi.deep$1": {"clk": 1},
    }
