# amaranth: UnusedElaboratable=no
"""Cells as loops: the same outputs, and texts that must stay as they are."""

import re
from typing import Any

import pytest
from amaranth.hdl import Module, Signal, signed
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from celosia.hw.execute.mesh import Mesh
from celosia.isa.presets import PRESETS
from celosia.sim.verilator.netlist.roll import MIN_ROWS, roll_cells
from celosia.sim.verilator.verilog import to_verilog
from tests.support.verilog_runs import Beside, expected_outputs, random_outputs


class Cells(wiring.Component):
    """A column of multiply-accumulate cells; its sums move up or down and may be looked at."""

    def __init__(self, rows: int = 5, *, up: bool = False, tapped: int | None = None):
        self._rows, self._up, self._tapped = rows, up, tapped
        super().__init__({
            "a": In(signed(5)).array(rows),
            "weight": In(signed(4)),
            "load": In(1).array(rows),
            "first": In(signed(9)),
            "sum": Out(signed(9)),
            "tap": Out(signed(9)),
        })

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        above = top.first
        for row in range(self._rows)[:: -1 if self._up else 1]:
            left = [Signal(signed(5), name=f"a_{row}_{col}", reset_less=True) for col in range(2)]
            weight = Signal(signed(4), name=f"weight_{row}_1", reset_less=True)
            total = Signal(signed(9), name=f"sum_{row}_1", reset_less=True)
            with m.If(top.load[row]):
                m.d.sync += weight.eq(top.weight)
            m.d.sync += [left[0].eq(top.a[row]), left[1].eq(left[0])]
            m.d.sync += total.eq(above + left[1] * weight)
            above = total
            if row == self._tapped:
                m.d.comb += top.tap.eq(total)
        m.d.comb += top.sum.eq(above)
        return m


class Crossed(wiring.Component):
    """Cells whose sums come from above, and so many rows from there one factor of each."""

    def __init__(self, step: int, *, other: int):
        self._steps, self._rows = (step, other), 7
        super().__init__({
            "x": In(signed(5)).array(self._rows),
            "y": In(signed(4)).array(self._rows),
            "first": In(signed(9)),
            "sum": Out(signed(9)),
        })

    def elaborate(self, platform):
        m = Module()
        top: Any = self
        total, rows = top.first, range(self._rows)
        x = [Signal(signed(5), name=f"x_{row}_0", reset_less=True) for row in rows]
        y = [Signal(signed(4), name=f"y_{row}_1", reset_less=True) for row in rows]
        for row in rows:
            m.d.sync += [x[row].eq(top.x[row]), y[row].eq(top.y[row])]
        for row in rows:
            above, total = total, Signal(signed(9), name=f"sum_{row}_2", reset_less=True)
            left, right = ((row + step) % self._rows for step in self._steps)
            m.d.sync += total.eq(above + x[left] * y[right])
        m.d.comb += top.sum.eq(total)
        return m


def looped_rows(text):
    """By module, the rows of its first loop, as `for` has them."""
    loops = {}
    for module in text.split("\nmodule ")[1:]:
        if found := re.search(r"row = (\d+); \\\$row [<>]= (\d+);", module):
            loops[module.split("(")[0].split(".")[1].strip()] = tuple(map(int, found.groups()))
    return loops


def test_outputs_are_the_same(tmp_path):
    down, up, tapped, mesh = Cells(5), Cells(5, up=True), Cells(7, tapped=1), Mesh(PRESETS["small"])
    all_of_them = Beside(down, up, tapped, mesh)
    rolled = roll_cells(to_verilog(all_of_them))
    assert looped_rows(rolled) == {
        "part_0": (3, 1),
        "part_1": (1, 3),
        "part_2": (5, 3),
        "part_3": (6, 1),
    }
    expected = expected_outputs(all_of_them)
    assert random_outputs(rolled, all_of_them, tmp_path / "rolled") == expected
    assert all(len(found) > 100 for found in all_of_them.outputs_of_each(expected))


@pytest.mark.parametrize(
    ("steps", "rolls"), [((0, 0), True), ((-1, 0), True), ((1, 0), False), ((1, -1), False)]
)
def test_a_loop_does_not_read_what_it_has_written(steps, rolls):
    """Sums come from the row above: no loop goes right if a factor is of the row below."""
    text = to_verilog(Crossed(steps[0], other=steps[1]))
    assert (roll_cells(text) != text) is rolls


def test_few_rows_stay():
    text = to_verilog(Cells(MIN_ROWS + 1))
    assert roll_cells(text) == text
    assert roll_cells(to_verilog(Cells(MIN_ROWS + 2))) != text


def test_the_text_is_the_same_every_time():
    text = to_verilog(Mesh(PRESETS["small"]))
    assert roll_cells(text) == roll_cells(text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (r"sum_3_1 <= (\S+) \[8:0\];", r"sum_3_1 <= \1 [9:1];"),
        (r"wire \[8:0\] (\\\$\d+ );", r"wire [7:0] \1;"),
        (r"posedge clk\)\n    a_2_1", r"negedge clk)\n    a_2_1"),
        (r"\* \$signed", r"+ $signed"),
    ],
    ids=["another cut", "narrow product", "another edge", "no product"],
)
def test_what_looks_otherwise_stays(old, new):
    text = to_verilog(Cells(5))
    changed, count = re.subn(old, new, text)
    assert count
    assert roll_cells(changed) == changed
    assert roll_cells(text) != text
