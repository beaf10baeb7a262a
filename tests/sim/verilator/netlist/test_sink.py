# amaranth: UnusedElaboratable=no
"""Logic under enables: the same outputs for any module, and what is moved and what is not."""

import random
from typing import Any

import pytest
from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.sim.verilator.netlist.simulated import simulated_verilog
from celosia.sim.verilator.netlist.sink import sink_logic
from celosia.sim.verilator.verilog import to_verilog
from tests.support.verilog_runs import Beside, expected_outputs, random_outputs

BITS = 6
INPUTS = ("a", "b", "c", "d")
STAGES = 4


class Pipeline(wiring.Component):
    """Random logic between registers with a few shared enables, in two levels of modules."""

    def __init__(self, seed: int, depth: int = 1):
        self._random = random.Random(seed)
        self._depth = depth
        super().__init__(
            {name: In(BITS) for name in INPUTS}
            | {"enable": In(2), "results": Out(BITS).array(STAGES)}
        )

    def _logic(self, m: Module, values: list[Any]) -> Any:
        first, second, third = (self._random.choice(values) for _ in range(3))
        kind = self._random.randrange(6)
        result = Signal(BITS, name=f"logic_{kind}")
        if kind == 5:
            with m.If(third[0]):
                m.d.comb += result.eq(first)
            with m.Elif(third[1]):
                m.d.comb += result[2:].eq(second)
        else:
            choices = (first + second, first ^ second, Mux(third[0], first, second))
            more = (Cat(first[3:], second[:3]), first - 3)
            m.d.comb += result.eq((*choices, *more)[kind])
        return result

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        values = [getattr(top, name) for name in INPUTS]
        if self._depth:
            m.submodules.inner = inner = Pipeline(self._random.getrandbits(32), self._depth - 1)
            ports: Any = inner
            for name in INPUTS:
                m.d.comb += getattr(ports, name).eq(self._logic(m, values))
            m.d.comb += ports.enable.eq(top.enable)
            values += ports.results
        for stage in range(STAGES):
            wires, known = list(values), len(values)
            for _ in range(self._random.randrange(1, 8)):
                wires.append(self._logic(m, wires))
            enable = (top.enable[0], top.enable[1], top.enable.all(), self._logic(m, values)[0])
            with m.If(enable[self._random.randrange(4)]):
                for number in range(self._random.randrange(1, 4)):
                    reset_less = self._random.random() < 0.5
                    register = Signal(BITS, name=f"r_{stage}_{number}", reset_less=reset_less)
                    m.d.sync += register.eq(self._random.choice(wires[known:]))
                    values.append(register)
            m.d.comb += top.results[stage].eq(values[-1])
        return m


def test_outputs_are_the_same(tmp_path):
    component, again = (Beside(*map(Pipeline, range(4))) for _ in range(2))
    fast = simulated_verilog(to_verilog(component))
    modules = fast.split("\nmodule ")
    moved = {each.split("(")[0].split(".")[1].strip() for each in modules if " : stage_0\n" in each}
    assert moved == {f"part_{number}" for number in range(4)}
    expected = expected_outputs(again)
    assert random_outputs(fast, component, tmp_path / "fast", edges=1) == expected
    assert all(len(found) > 100 for found in component.outputs_of_each(expected))


def module(*items: str) -> str:
    """A module of what is given, each on lines of its own."""
    declared = "".join(f"  reg [7:0] {name};\n" for name in ("r", "s", "a", "e", "f"))
    wires = "".join(f"  wire [7:0] {name};\n" for name in ("w", "x"))
    return f"module m(clk);\n{declared}{wires}{''.join(items)}endmodule\n"


def register(name: str, value: str, enable: str, reset: str = "") -> str:
    body = f"    if ({enable}) begin\n      {name} <= {value};\n    end\n"
    if reset:
        body += f"    if (rst) begin\n      {name} <= {reset};\n    end\n"
    return f"  always @(posedge clk) begin\n{body}  end\n"


W = "  assign w = a + 8'h01;\n"


def test_what_one_enable_needs_moves_below_it():
    x = "  assign x = w ^ a;\n"
    text = sink_logic(module(W, x, register("r", "x", "e"), register("s", "x", "e", "8'h00")))
    assert text.endswith(
        "  always @(posedge clk) begin\n"
        "    if (e) begin : stage_0\n"
        "      reg [7:0] w;\n"
        "      reg [7:0] x;\n"
        "      w = a + 8'h01;\n"
        "      x = w ^ a;\n"
        "      r <= x;\n"
        "      s <= x;\n"
        "    end\n"
        "    if (rst) begin\n"
        "      s <= 8'h00;\n"
        "    end\n"
        "  end\n"
        "endmodule\n"
    )
    assert "assign" not in text
    assert "wire" not in text


@pytest.mark.parametrize(
    "others",
    [
        register("s", "w", "f"),
        "  always @(posedge clk)\n    s <= w;\n",
        "  assign s = w;\n",
        register("s", "a", "w"),
        "  n part(.p(w));\n",
        "  assign w [7:4] = 4'h0;\n",
    ],
    ids=["enable", "always", "logic", "is one", "instance", "two drivers"],
)
def test_what_others_need_stays(others):
    text = module(W, register("r", "w", "e"), others)
    assert sink_logic(text) == text


def test_modules_do_not_mix_up_their_names():
    alone, shared = module(W, register("r", "w", "e")), module(W, register("r", "w", "f"), W)
    assert sink_logic(alone + shared) == sink_logic(alone) + shared
