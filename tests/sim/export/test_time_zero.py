"""Whatever blocks compute is known from time 0 on."""

import shutil
import subprocess
from itertools import pairwise

import pytest

from celosia.sim.export.choices import Memories, TopChoice
from celosia.sim.export.time_zero import wake_blocks
from celosia.sim.verilator.doctor import absence
from tests.support.exports import exported

MODULE = r"""module \top.a (i, o);
  reg \$auto$verilog_backend.cc:2355:dump_module$5  = 0;
  reg active = 1'h0;
  always @* begin
    if (\$auto$verilog_backend.cc:2355:dump_module$5 ) begin end
    o = 1'h0;
    if (active) begin
      o = i;
    end
  end
  always @*
    p[3:0] = active;
endmodule
"""
LONE = r"""module \top.b (i, o);
  reg q = 1'h0;
  always @*
    o[0] = q;
endmodule
module \top.c (i, o);
  assign o = i;
endmodule
"""


def test_a_trigger_changes_when_blocks_wait():
    text = wake_blocks(MODULE)
    trigger = r"\$auto$verilog_backend.cc:2355:dump_module$5 "
    assert f"  reg {trigger};\n  initial {trigger}<= 0;\n" in text
    assert f"always @* begin\n    if ({trigger}) begin end\n    p[3:0] = active;\n  end" in text
    assert text.count("initial") == 1


def test_a_module_without_a_trigger_gets_one():
    text = wake_blocks(LONE)
    assert text.startswith(
        "module \\top.b (i, o);\n  reg \\$start ;\n  initial \\$start <= 0;\n  reg q"
    )
    assert "always @* begin\n    if (\\$start ) begin end\n    o[0] = q;\n  end\n" in text
    assert text.endswith(LONE[LONE.index("module \\top.c") :])


# Designs that other tests export, too: each takes longer than all that is done with it.
DESIGNS = ((TopChoice.AXI, Memories.BLACKBOX), (TopChoice.CORE, Memories.INFERRED))


@pytest.mark.parametrize(("top", "memories"), DESIGNS)
def test_every_block_of_a_design_looks_at_a_trigger(top, memories):
    lines = exported(top, memories).verilog.splitlines()
    for line, following in pairwise(lines):
        if line.startswith("  always @*"):
            assert line == "  always @* begin"
            assert following.startswith("    if (\\$")
            assert following.endswith(" ) begin end")
    assert not any("dump_module" in line and line.endswith(" = 0;") for line in lines)


@pytest.mark.parametrize(
    ("top", "memories", "generation"),
    [
        # By day, each design and each generation once.
        pytest.param(*design, generation, marks=() if one == other else pytest.mark.slow)
        for one, design in enumerate(DESIGNS)
        for other, generation in enumerate(("2012", "2005"))
    ],
)
def test_icarus_knows_what_a_fresh_accelerator_shows(top, memories, generation, tmp_path):
    if missing := absence("iverilog"):
        pytest.skip(missing)
    design = exported(top, memories)
    inputs = [port for port in design.ports if port.direction == "in"]
    controls = [
        port.name
        for port in design.ports
        if port.direction == "out"
        and (port.name.endswith(("valid", "ready")) or not port.name.startswith("m_axi"))
    ]
    zeros = ", ".join(
        f".{port.name}({port.bits}'d0)" for port in inputs if port.name not in {"clk", "rst"}
    )
    shown = ", ".join(f"dut.{name}" for name in controls)
    (tmp_path / "bench.v").write_text(
        "module bench;\n  reg clk = 0, rst = 1;\n  always #5 clk = ~clk;\n"
        f"  {design.top.module} dut(.clk(clk), .rst(rst), {zeros});\n"
        "  initial begin #95 rst = 0; #100;\n"
        f'    $display("{" ".join(f"{name}=%b" for name in controls)}", {shown});\n'
        "    $finish;\n  end\nendmodule\n"
    )
    (tmp_path / "design.v").write_text(design.verilog + design.models)
    iverilog, vvp = shutil.which("iverilog"), shutil.which("vvp")
    assert iverilog
    assert vvp
    build = [iverilog, f"-g{generation}", "-s", "bench", "-o", "bench.vvp", "bench.v", "design.v"]
    subprocess.run(build, cwd=tmp_path, check=True, capture_output=True, text=True)
    out = subprocess.run(
        [vvp, "bench.vvp"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    values = dict(word.split("=") for word in out.split() if "=" in word)
    assert values.keys() == set(controls)
    assert not {name: value for name, value in values.items() if set(value) - {"0", "1"}}
