"""The Verilog that is written: what `clean_verilog` changes, and that it is the same every time."""

import os
import subprocess
import sys
from typing import Any

import pytest
from amaranth.back import verilog
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.isa.presets import PRESETS
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator.verilog import TOP_NAME, clean_verilog, to_verilog
from tests.support.stub_top import StubTop


class Registers(wiring.Component):
    """Registers with and without enables, a state machine, a memory and a table."""

    def __init__(self):
        outputs = ("held", "free", "state", "row", "constant")
        super().__init__(
            {"enable": In(1), "address": In(2), "i": In(8)} | {name: Out(8) for name in outputs}
        )

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        nibbles = Signal(8)
        m.d.sync += top.free.eq(top.i)
        m.d.sync += nibbles[4:].eq(top.i[:4])
        with m.If(top.enable):
            m.d.sync += [top.held.eq(top.i + 1), nibbles[:4].eq(top.i[4:])]
        with m.FSM():
            with m.State("UP"):
                m.d.sync += top.state.eq(top.state + nibbles)
                with m.If(top.enable):
                    m.next = "DOWN"
            with m.State("DOWN"):
                m.d.sync += top.state[:4].eq(3)
                m.next = "UP"
        m.submodules.memory = memory = Memory(shape=8, depth=4, init=[])
        m.submodules.constants = constants = Memory(shape=8, depth=4, init=[1, 2, 3, 4])
        write, read = memory.write_port(), memory.read_port()
        look_up = constants.read_port()
        m.d.comb += [
            write.addr.eq(top.address),
            write.data.eq(top.i),
            write.en.eq(top.enable),
            read.addr.eq(top.address),
            look_up.addr.eq(top.address),
            top.row.eq(read.data),
            top.constant.eq(look_up.data),
        ]
        return m


@pytest.fixture(scope="module")
def text():
    return to_verilog(Registers())


def test_a_register_with_an_enable_is_one_clocked_block(text):
    assert (
        "  always @(posedge clk) begin\n"
        "    if (enable) begin\n"
        "      held <= \\$1 [7:0];\n"
        "    end\n"
        "    if (rst) begin\n"
        "      held <= 8'h00;\n"
        "    end\n"
        "  end\n"
    ) in text
    assert "always @*" not in text


def test_zeros_in_memories_go_and_tables_stay(text):
    assert "memory[" in text
    assert "memory[0] = " not in text
    assert "constants[3] = 8'h04;" in text


def test_the_top_has_its_name_and_its_ports(text):
    assert f"\nmodule {TOP_NAME}(" in text
    assert "input [7:0] i;" in text


def test_nothing_says_where_it_came_from(text):
    assert "src" not in text
    assert ".py" not in text


def test_a_failing_yosys_is_a_problem_of_the_machine(monkeypatch):
    def fail(*_, **__):
        raise verilog.YosysError("Traceback\nFile too large (os error 27)")

    monkeypatch.setattr(verilog, "convert", fail)
    with pytest.raises(EnvironmentProblem, match="Yosys failed: File too large"):
        to_verilog(Registers())


def test_constants_start():
    text = (
        "module m;\n  always @*\n    \\fault [3:1] = 3'h0;\n  always @*\n    y = 1'h1;\nendmodule\n"
    )
    assert clean_verilog(text) == (
        "module m;\n"
        "  reg \\$start = 0;\n"
        "  always @* begin\n    if (\\$start ) begin end\n    \\fault [3:1] = 3'h0;\n  end\n"
        "  always @* begin\n    if (\\$start ) begin end\n    y = 1'h1;\n  end\n"
        "endmodule\n"
    )


BLOCK = "    if (\\$auto$verilog_backend.cc:1:dump_module$1 ) begin end\n"


@pytest.mark.parametrize(
    "elsewhere",
    ["", "  assign y = \\$7 ;\n", "  always @(posedge clk)\n    s <= \\$7 ;\n"],
    ids=["nowhere", "in logic", "in another register"],
)
def test_what_others_use_is_not_folded(elsewhere):
    text = (
        "module m;\n  reg [3:0] \\$7 ;\n"
        f"  always @* begin\n{BLOCK}    \\$7  = r;\n    if (e) begin\n      \\$7 [1:0] = d;\n"
        "    end\n  end\n  always @(posedge clk)\n    r <= \\$7 ;\n"
        f"{elsewhere}endmodule\n"
    )
    folded = (
        "module m;\n  always @(posedge clk) begin\n    if (e) begin\n      r [1:0] <= d;\n"
        "    end\n  end\nendmodule\n"
    )
    assert clean_verilog(text) == (text if elsewhere else folded)


def test_modules_do_not_mix_up_their_names():
    fold = (
        f"  reg \\$7 ;\n  always @* begin\n{BLOCK}    \\$7  = r;\n    if (e) begin\n"
        "      \\$7  = d;\n    end\n  end\n  always @(posedge clk)\n    r <= \\$7 ;\n"
    )
    text = clean_verilog(f"module a;\n{fold}endmodule\nmodule b;\n{fold}endmodule\n")
    assert text.count("      r <= d;\n") == 2
    assert "always @*" not in text


def test_the_text_does_not_depend_on_the_process():
    program = (
        "from celosia.isa.presets import PRESETS\n"
        "from celosia.sim.verilator.verilog import to_verilog\n"
        "from tests.support.stub_top import StubTop\n"
        "print(to_verilog(StubTop(PRESETS['tiny'])), end='')\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert texts == {to_verilog(StubTop(PRESETS["tiny"]))}
