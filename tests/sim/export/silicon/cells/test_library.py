"""Cell libraries by name and by file."""

import pytest

from celosia.sim.export.silicon.cells import library
from celosia.sim.export.silicon.cells.library import choose_library
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.support.problems import InputError
from tests.support.cells import LIBERTY


def test_a_file(tmp_path):
    path = tmp_path / "demo.lib"
    path.write_text(LIBERTY)
    found = choose_library(str(path))
    assert found.liberty == LIBERTY
    assert found.gate_um2 == 4.0
    assert found.cells["DFF"].flip_flop


def test_an_unknown_name():
    with pytest.raises(InputError, match=r"--cells tsmc5: there is no such .* sky130, osu018, and"):
        choose_library("tsmc5")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match=r"no\.lib: No such file"):
        choose_library(str(tmp_path / "no.lib"))


def test_a_file_without_areas(tmp_path):
    path = tmp_path / "bare.lib"
    path.write_text("library(bare) { cell(NAND2) { } }")
    with pytest.raises(InputError, match=r"bare\.lib: none of its 1 cells has an area"):
        choose_library(str(path))


def test_a_package_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(library, "_OSU018", tmp_path / "osu018_stdcells.lib")
    with pytest.raises(EnvironmentProblem, match="Debian package qflow-tech-osu018 has it"):
        choose_library("osu018")
