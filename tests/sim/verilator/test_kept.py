"""What a simulator was compiled from, packed and put back."""

import pytest

from celosia.sim.verilator.kept import kept_name, pack, unpack

CONTENTS = {
    "model/Vtop.h": "header",
    "model/Vtop_0.cpp": "each cycle",
    "ports.h": "ports",
    "rare.o": "object",
}
LEFT = {"model/Vtop_0__Slow.cpp": "once", "often.o": "object", "model.so": "library"}


@pytest.fixture
def built(tmp_path):
    """A directory as a build leaves it."""
    work = tmp_path / "work"
    (work / "model").mkdir(parents=True)
    for name, text in (CONTENTS | LEFT).items():
        (work / name).write_text(text)
    return work


def test_what_is_needed_to_compile_again_comes_back(built, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    unpack(pack(built), other)
    files = {str(path.relative_to(other)): path for path in other.rglob("*") if path.is_file()}
    assert {name: path.read_text() for name, path in files.items()} == CONTENTS


def test_the_same_build_has_the_same_name():
    assert kept_name("a") == kept_name("a") != kept_name("b")
