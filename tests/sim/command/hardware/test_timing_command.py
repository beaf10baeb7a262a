"""`celosia timing` as a user calls it."""

import json

import pytest

from celosia.sim.command.hardware import timing_command as command
from celosia.sim.export.silicon.synthesis.runs import ModuleScript
from celosia.sim.export.silicon.timing.levels import LEVELS
from celosia.sim.export.silicon.timing.measure import DesignText, Measured, ModulePath
from celosia.sim.export.silicon.timing.path import RegisterPath
from celosia.sim.export.silicon.timing.times import Workload
from celosia.sim.support.errors import EnvironmentProblem
from tests.support.cells import LIBERTY, fake_yosys
from tests.support.command_line import invoke, refused, right


@pytest.fixture
def yosys(tmp_path, monkeypatch):
    """Options for a library and a stand-in for Yosys."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo.lib").write_text(LIBERTY)
    return ("--cells", "demo.lib", "--yosys", " ".join(fake_yosys(tmp_path, "").command))


@pytest.fixture
def timed(yosys, monkeypatch):
    """The command on `tiny`; what was measured comes from a table."""

    def measured(_tools, _library, _design, scripts, whole, *_):
        found = {each: {"default": 6.0, "prefix": 3.0}[each] + (not whole) for each in scripts}
        paths = {each: RegisterPath("a", "b", 9, ns, 0.5) for each, ns in found.items()}
        return [Measured(each, [ModulePath("mesh", "", path)]) for each, path in paths.items()]

    monkeypatch.setattr(command, "measure", measured)
    monkeypatch.setattr(command, "find_sta", lambda: "sta")
    monkeypatch.setattr(command, "design_text", lambda *_: DesignText("", "", ""))
    monkeypatch.setattr(command, "predict_standard", lambda *_: [Workload("a layer", 1000)])
    return ("timing", "--preset", "tiny", *yosys)


def test_both_scripts_and_time(timed):
    default, prefix = json.loads(right(*timed, "--json", "-").stdout)["scripts"].values()
    assert default["period_ns"] == 6.5
    assert prefix["period_ns"] == 3.5
    assert default["workloads"]["a layer"]["us"] == 6.5


def test_a_unit_and_a_script(timed):
    """Nothing is said of time where not all paths are known."""
    words = (*timed, "--unit", "decoder", "--script", "prefix", "--json", "-")
    (found,) = json.loads(right(*words).stdout)["scripts"].values()
    assert found["units"]["mesh"]["ns"] == 4.0
    assert found["workloads"] == {}


def test_bounds(timed, tmp_path):
    bounds = tmp_path / "bounds.toml"
    words = (*timed, "--bounds", str(bounds), "--json", "report.json")
    bounds.write_text("[tiny.default]\nwithin = 6.0\n[tiny.prefix]\nwithin = 3.1\n")
    assert "default: 6.00 ns within modules, bound 6" in right(*words).stdout
    bounds.write_text("[tiny.default]\nwithin = 6.0\n[tiny.prefix]\nwithin = 2.9\n")
    found = invoke(*words)
    assert found.exit_code == 1
    assert "prefix: 3.00 ns within modules, bound 2.9 NOT HELD" in found.stdout
    document = json.loads((tmp_path / "report.json").read_text())
    assert [each["holds"] for each in document["bounds"]] == [True, False]
    assert document["scripts"]["default"]["workloads"] == {}
    refused("bounds.toml: has no bounds of small", *words, "--preset", "small")


def test_paths_in_levels(yosys, monkeypatch):
    """With Yosys alone, of the units that are named and of a processing element."""
    said = "Executing LTP\nLongest topological path in top (length={}):\n    0: \\a\n    1: \\b\n"
    texts = {"top.accelerator.execute.array.mesh": 10, "top.accelerator.decoder": 15}
    kept = {name: said.format(length) for name, length in texts.items()}
    monkeypatch.setattr(command, "design_text", lambda *_: DesignText("", "", ""))
    monkeypatch.setattr(ModuleScript, "run", lambda *_: ({}, {LEVELS: kept}))
    words = ("timing", "--preset", "tiny", "--levels", "--unit", "decoder", "--json", "-")
    document = json.loads(right(*words, *yosys).stdout)
    assert document["scripts"]["levels"]["units"]["decoder"]["of_a_cell"] == 1.5
    refused("--script and --levels: levels of logic", *words, "--script", "prefix")
    refused("--bounds and --levels: levels of logic", *words, "--bounds", "bounds.toml")


def test_bad_input(yosys, monkeypatch):
    def missing():
        raise EnvironmentProblem("no OpenSTA")

    refused("--unit decode: there is no such unit", "timing", "--unit", "decode")
    refused("--script prefx: there is no such script; there ", "timing", "--script", "prefx")
    refused("no.toml: No such file", "timing", "--bounds", "no.toml")
    monkeypatch.setattr(command, "find_sta", missing)
    refused("no OpenSTA", "timing", "--preset", "tiny", *yosys)


def test_cells_that_are_missing_are_named_before_yosys_compiles_itself(monkeypatch):
    def missing(_):
        raise EnvironmentProblem("there are no cells")

    monkeypatch.setattr(command, "choose_library", missing)
    monkeypatch.setattr(command, "started_yosys", lambda *_: pytest.fail("asked too soon"))
    refused("there are no cells", "timing")
