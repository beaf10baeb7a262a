# amaranth: UnusedElaboratable=no
"""Clocks of their own for units that sleep: the same outputs, and no other change."""

from typing import Any

import pytest
from amaranth.hdl import Module, ResetSignal, Signal
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.hw.lib.sleep import AWAKE, sleeper
from celosia.sim.verilator.netlist.gate import gate_clocks
from celosia.sim.verilator.netlist.simulated import simulated_verilog
from celosia.sim.verilator.verilog import to_verilog
from tests.support.verilog_runs import expected_outputs, random_outputs


class Counter(wiring.Component):
    """Registers with and without enable and reset, some in a process that drives several."""

    def __init__(self) -> None:
        super().__init__({"step": In(1), "by": In(4), "sum": Out(8), "pair": Out(8)})

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        low, high = Signal(4, reset_less=True), Signal(4, init=3)
        with m.If(top.step):
            m.d.sync += [top.sum.eq(top.sum + top.by), low.eq(high)]
        m.d.sync += high.eq(high + low)
        m.d.comb += top.pair.eq((low << 4) | high)
        return m


class Sleeper(wiring.Component):
    """Counters and a memory that sleep, and one that does not."""

    def __init__(self, *, asleep: bool = True):
        self._asleep = asleep
        super().__init__({
            "works": In(1),
            "step": In(1),
            "by": In(4),
            "sums": Out(8).array(2),
            "pairs": Out(8).array(2),
            "word": Out(8),
        })

    def elaborate(self, platform):
        m, unit = Module(), Module()
        top: Any = self
        awake = Signal(name=AWAKE)
        m.d.comb += awake.eq(top.works | ResetSignal())
        for index, parent in enumerate((unit, m)):
            counter: Any = Counter()
            parent.submodules[f"counter_{index}"] = counter
            m.d.comb += [
                counter.step.eq(top.step),
                counter.by.eq(top.by),
                top.sums[index].eq(counter.sum),
                top.pairs[index].eq(counter.pair),
            ]
        unit.submodules.memory = memory = Memory(shape=8, depth=16, init=[])
        write, read = memory.write_port(), memory.read_port()
        unit.d.comb += [
            write.addr.eq(top.by),
            write.data.eq(top.sums[0]),
            write.en.eq(top.step),
            read.addr.eq(top.by),
            read.en.eq(~top.step),
            top.word.eq(read.data),
        ]
        m.submodules.unit = sleeper(unit, awake) if self._asleep else unit
        return m


def test_the_outputs_are_the_same(tmp_path):
    fast = simulated_verilog(to_verilog(Sleeper()))
    assert random_outputs(fast, Sleeper(), tmp_path / "fast", edges=1) == expected_outputs(
        Sleeper()
    )


def test_nothing_that_sleeps_is_clocked_as_usual():
    text = gate_clocks(to_verilog(Sleeper()))
    modules = {module.split()[0].rpartition(".")[2]: module for module in text.split("module ")[1:]}
    assert "@(posedge clk)" in modules["counter_1"]
    assert modules["counter_0"].count(f"@(posedge {AWAKE} )") == 3
    assert "@(posedge clk)" not in modules["counter_0"]
    assert f"if ({AWAKE})" not in text


def test_a_port_of_the_same_name_keeps_a_unit_as_it_is():
    """Yosys then calls one of them otherwise."""
    text = to_verilog(Sleeper()).replace("  input awake;", "  input \\awake$3 ;")
    assert gate_clocks(text) == text


@pytest.mark.parametrize("asleep", [True, False])
def test_what_never_sleeps_stays_as_it_is(asleep):
    text = to_verilog(Sleeper(asleep=asleep))
    assert (gate_clocks(text) == text) is not asleep
