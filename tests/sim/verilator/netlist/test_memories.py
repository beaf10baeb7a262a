# amaranth: UnusedElaboratable=no
"""Memories that are written in place: the same outputs, and texts that must stay as they are."""

import re
from typing import Any

import pytest
from amaranth.hdl import Cat, Module, unsigned
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from celosia.sim.verilator.netlist.memories import write_in_place
from celosia.sim.verilator.verilog import to_verilog
from tests.support.verilog_runs import random_outputs

LANES = 4


class Rows(wiring.Component):
    """A memory with an enable per lane, whose two readers often look at what is written."""

    def __init__(self, *, looked_at: bool = False):
        self._looked_at = looked_at
        super().__init__({
            "enable": In(LANES),
            "whole": In(1),
            "address": In(1),
            "row": In(8 * LANES),
            "read": In(2),
            "read_address": In(1).array(2),
            "found": Out(8 * LANES).array(2),
            "kept": Out(8 * LANES),
        })

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        m.submodules.memory = memory = Memory(shape=unsigned(8 * LANES), depth=2, init=[])
        write = memory.write_port(granularity=8)
        m.d.comb += [
            write.addr.eq(top.address),
            write.data.eq(Cat(top.row[:8], ~top.row[8:])),
            write.en.eq(top.enable | top.whole.replicate(LANES)),
        ]
        for index in range(2):
            port = memory.read_port()
            m.d.comb += [
                port.en.eq(top.read[index]),
                port.addr.eq(top.read_address[index]),
                top.found[index].eq(port.data),
            ]
        if self._looked_at:
            port = memory.read_port(domain="comb")
            m.d.comb += port.addr.eq(top.address)
            m.d.sync += top.kept.eq(port.data)
        return m


def test_outputs_are_the_same(tmp_path):
    rows = Rows()
    text = to_verilog(rows)
    merged = write_in_place(text)
    assert "memory[address] = {" in merged
    assert "<= memory" in merged
    expected = random_outputs(text, rows, tmp_path / "as_it_is")
    assert random_outputs(merged, rows, tmp_path / "merged") == expected
    assert len(set(expected)) > 100


def test_a_memory_that_logic_reads_stays():
    text = to_verilog(Rows(looked_at=True))
    assert "= memory[address];" in text
    assert write_in_place(text) == text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"posedge (clk\) begin\n    if \(read\[0\])", r"negedge \1"),
        (r"\[15:8\] <=", r"[14:8] <="),
        (r"if \(\S+\[2\]\)\n", "if (whole)\n"),
        (r"memory\[address\]\[7:0\]", "memory[read_address__0][7:0]"),
    ],
    ids=["another edge", "a gap", "another enable", "another address"],
)
def test_what_looks_otherwise_stays(old, new):
    text = to_verilog(Rows())
    changed, count = re.subn(old, new, text)
    assert count
    assert write_in_place(changed) == changed
    assert write_in_place(text) != text
