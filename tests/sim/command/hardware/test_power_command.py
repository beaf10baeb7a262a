"""`celosia power` as a user calls it; what it measures has tests of its own."""

from importlib import import_module

import pytest

from celosia.sim.export.silicon.energy.table import EnergyTable, Entry
from celosia.sim.export.silicon.power.report import CellCheck, PowerReport
from tests.support.cells import LIBERTY, fake_yosys
from tests.support.command_line import refused, right


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Options for a library and a stand-in for Yosys."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo.lib").write_text(LIBERTY)
    fake = fake_yosys(tmp_path, "")
    return ("power", "--cells", "demo.lib", "--yosys", " ".join(fake.command), "--preset", "tiny")


def test_a_measurement(bench, monkeypatch, tmp_path):
    whole = import_module("celosia.sim.export.silicon.power.whole")
    table = EnergyTable("tiny, demo", {"mac": Entry(3.0, "cells", 1.25)})
    report = PowerReport(table, CellCheck(zero=0.5, real=3.0, random=4.0), [], 0)
    found = whole.Measurement(report, "a table\n")
    monkeypatch.setattr(whole, "measure_power", lambda *_: found)
    said = " ".join(right(*bench, "-o", "t.toml").stdout.split())
    assert (tmp_path / "t.toml").read_text() == "a table\n"
    assert "1.25" in said
    assert "0.50 pJ with zeros, 3.00 in layers, 4.00 with random numbers: ordered" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cells", "tsmc5"), "--cells tsmc5: there is no such cell library"),
        (("--set", "normalization=false"), "tiny: has no transform unit"),
        (("-o", "no/such/folder.toml"), "there is no directory"),
        ((), "demo.lib: time_unit is None"),
    ],
)
def test_bad_input(bench, words, message):
    refused(message, *bench, *words)
