"""The scripts that map modules for speed."""

import pytest

from celosia.sim.export.silicon.synthesis.runs import Unreadable
from celosia.sim.export.silicon.synthesis.yosys import Yosys
from celosia.sim.export.silicon.timing.scripts import known_scripts, netlist_script
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from tests.support.cells import LIBRARY

YOSYS = Yosys((), "")
DRIVEN = type(LIBRARY)(**{**vars(LIBRARY), "cells": {"INVX2": LIBRARY.cells["INV"]}})


def test_scripts_by_name():
    assert known_scripts([]) == ["default", "prefix"]
    assert known_scripts(["prefix", "prefix"]) == ["prefix"]
    with pytest.raises(InputError, match="--script defualt: there is no such script; there are de"):
        known_scripts(["defualt"])


def test_a_script_without_restructuring_keeps_adders():
    ends = netlist_script(YOSYS, DRIVEN, known_scripts([]), 1).ends
    assert list(ends) == ["default.v", "prefix.v"]
    default, prefix = ends.values()
    assert "abc -liberty cells.lib -constr cells.constr\n" in default
    (line,) = (line for line in prefix.splitlines() if line.startswith("abc "))
    same = prefix.replace(line, "abc -liberty cells.lib -constr cells.constr")
    assert default == same.replace("prefix.v", "default.v")
    # ABC's `dc2`, `dch` and `&get` restructure; `map` chooses gates for what is there.
    assert "-D 2000" in line
    assert not {"dc2", "dch", "resyn2", "&get"} & set(line.replace(";", ",").split(","))


def test_a_library_without_an_inverter():
    with pytest.raises(EnvironmentProblem, match="demo cells: has no inverter INVX2"):
        netlist_script(YOSYS, LIBRARY, ["default"], 1)


def test_half_a_netlist():
    script = netlist_script(YOSYS, DRIVEN, ["default"], 1)
    constraints = script.files["cells.constr"]
    assert constraints == "set_driving_cell INVX2\nset_load 0.05 [all_outputs]\n"
    assert script.condense("wire signed [1:0] a;\nendmodule\n") == "wire [1:0] a;\nendmodule\n"
    with pytest.raises(Unreadable):
        script.condense("module top(")
