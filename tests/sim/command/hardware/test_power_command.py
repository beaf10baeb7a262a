"""`celosia power` as a user calls it; what it measures has tests of its own."""

from importlib import import_module

import pytest

from celosia.sim.export.silicon.checks.flat import FlatCheck, Netlists
from celosia.sim.export.silicon.checks.glitches import Glitches
from celosia.sim.export.silicon.energy.table import EnergyTable, Entry
from celosia.sim.export.silicon.power.report import CellCheck, PowerReport
from tests.sim.export.silicon.power.test_table_file import BESIDE, sample
from tests.support.cells import LIBERTY, fake_yosys
from tests.support.command_line import invoke, refused, right


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
    found = whole.Measurement(report, "a table\n", [[sample(1, 2.0)], [sample(2, 2.0)]], BESIDE)
    monkeypatch.setattr(whole, "measure_power", lambda *_: found)
    said = " ".join(right(*bench, "-o", "t.toml").stdout.split())
    assert (tmp_path / "t.toml").read_text() == "a table\n"
    assert "1.25" in said
    assert "0.50 pJ with zeros, 3.00 in layers, 4.00 with random numbers: ordered" in said
    assert "│ text 1 │ text 2 │ all │" in said
    assert "so that texts do agree to 5%" in said


@pytest.mark.parametrize(("units", "code", "agree"), [(95.0, 0, "do agree"), (70.0, 1, "do not")])
def test_the_sum_over_units(bench, monkeypatch, units, code, agree):
    checks = import_module("celosia.sim.export.silicon.checks.checks")
    found = [Netlists(3, 2, [pj] * 4, 10.0, 1, 7) for pj in (units, 90.0)]
    made = checks.Checks(FlatCheck(*found), [Glitches("a cell", 5, 2.0, 3.0)])
    monkeypatch.setattr(checks, "check", lambda *_, **__: made)
    ran = invoke(*bench, "--whole", "--glitches")
    said = " ".join(ran.stdout.split())
    assert ran.exit_code == code
    assert f"They {agree}" in said
    assert "a cell" in said
    assert "1.50" in said
    assert "6 of 7 outputs are in all cycles what was recorded" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--cells", "tsmc5"), "--cells tsmc5: there is no such cell library"),
        (("--set", "normalization=false"), "tiny: has no transform unit"),
        (("-o", "no/such/folder.toml"), "there is no directory"),
        ((), "demo.lib: time_unit is None"),
        (("--whole", "-o", "t.toml"), "--whole: makes no table; leave --output t.toml out"),
        (("--glitches", "-o", "t.toml"), "--glitches: makes no table; leave --output t.toml out"),
    ],
)
def test_bad_input(bench, words, message):
    refused(message, *bench, *words)
