"""What is looked for, and what `CELOSIA_REQUIRE` makes of its absence."""

import shutil
from types import SimpleNamespace

import pytest

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator import doctor
from celosia.sim.verilator.doctor import REQUIRE_VARIABLE, TOOLS, absence, examine, required_names

NAMES = [tool.name for tool in TOOLS]


@pytest.fixture
def bare(monkeypatch):
    """A machine without programs; what is installed in Python stays."""
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv(REQUIRE_VARIABLE, raising=False)


def found():
    return {finding.tool.name: finding.detail for finding in examine()}


def test_names_are_unique_and_can_stand_in_the_variable():
    assert len(set(NAMES)) == len(NAMES)
    assert not any("," in name or " " in name for name in NAMES)


def test_python_is_always_there(monkeypatch):
    monkeypatch.delenv(REQUIRE_VARIABLE, raising=False)
    assert found()["python"]


def test_a_bare_machine_has_no_tools_but_no_failure(bare):
    missing = {name for name, detail in found().items() if detail is None}
    assert {"g++", "fst", "valgrind", "perl", "iverilog", "chromium"} <= missing
    assert not any(finding.failed for finding in examine())


def test_every_tool_that_is_missing_has_a_package(bare):
    assert all(finding.tool.package for finding in examine())


def test_a_program_is_found_on_the_path(bare, monkeypatch, tmp_path):
    script = tmp_path / "chromium"
    script.write_text("#!/bin/sh\necho; echo Chromium 99\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found()["chromium"] == "Chromium 99"


def test_a_program_that_does_not_run_is_not_there(bare, monkeypatch, tmp_path):
    script = tmp_path / "valgrind"
    script.write_text("#!/bin/sh\nexit 3\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert found()["valgrind"] is None


@pytest.mark.skipif(not shutil.which("g++"), reason="needs g++")
@pytest.mark.parametrize("there", [True, False])
def test_the_header_for_fst_is_looked_for_by_the_compiler(monkeypatch, tmp_path, there):
    if there:
        (tmp_path / "lz4.h").write_text("")
        (tmp_path / "zlib.h").write_text("")
    monkeypatch.setenv("CPLUS_INCLUDE_PATH", str(tmp_path))
    detail = next(tool for tool in TOOLS if tool.name == "fst").find()
    assert detail == "lz4.h" or not there


@pytest.mark.parametrize("text", ["", " ", ",", " , "])
def test_nothing_is_required_by_default(monkeypatch, text):
    monkeypatch.setenv(REQUIRE_VARIABLE, text)
    assert required_names() == frozenset()


def test_names_are_separated_by_commas(monkeypatch):
    monkeypatch.setenv(REQUIRE_VARIABLE, "fst, perl,")
    assert required_names() == {"fst", "perl"}


def test_an_unknown_name_is_refused(monkeypatch):
    monkeypatch.setenv(REQUIRE_VARIABLE, "fst,gtkwave")
    with pytest.raises(EnvironmentProblem, match="there is no tool 'gtkwave'; there are python"):
        examine()


def test_what_is_required_and_missing_fails(bare, monkeypatch):
    monkeypatch.setenv(REQUIRE_VARIABLE, "perl,python")
    assert [finding.tool.name for finding in examine() if finding.failed] == ["perl"]


def test_absence_is_a_reason_to_leave_something_out_unless_it_is_required(bare, monkeypatch):
    assert absence("python") is None
    reason = absence("fst")
    assert reason is not None
    assert "liblz4-dev" in reason
    monkeypatch.setenv(REQUIRE_VARIABLE, "fst")
    with pytest.raises(EnvironmentProblem, match="CELOSIA_REQUIRE requires it"):
        absence("fst")


def test_a_document_lists_every_tool(bare):
    document = doctor.Findings(examine()).document()
    assert [tool["name"] for tool in document["tools"]] == NAMES
    assert all(tool["found"] == (tool["detail"] is not None) for tool in document["tools"])


@pytest.mark.parametrize(
    "missing", [None, "cocotb", "cocotbext", "cocotbext.axi", "find_libpython"]
)
def test_cocotb_needs_its_models_of_axi_and_python_as_a_library(monkeypatch, missing):
    library = SimpleNamespace(find_libpython=lambda: "libpython.so")
    monkeypatch.setattr(doctor.util, "find_spec", lambda name: None if name == missing else name)
    monkeypatch.setattr(doctor, "import_module", lambda _name: library)
    monkeypatch.setattr(doctor.metadata, "version", lambda name: f"of {name}")
    there = "cocotb of cocotb, cocotbext-axi of cocotbext-axi"
    (tool,) = (tool for tool in TOOLS if tool.name == "cocotb")
    assert tool.find() == (None if missing else there)
    library.find_libpython = lambda: None
    assert tool.find() is None
