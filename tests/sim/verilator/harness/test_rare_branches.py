"""Branches of a model's C++ are rare to GCC; those of the harness, and to others, are branches."""

import subprocess

import pytest

from celosia.sim.verilator import build
from celosia.sim.verilator.build import HARNESS, compile_model
from celosia.sim.verilator.toolchain import find_compiler, find_verilator
from tests.support.tool_runs import pretended_tools

HEADERS = [HARNESS.with_name(name) for name in ("rare_branches.h", "branches.h")]
PROGRAM = """
int step(int enable, int last) {
    if ((enable, last)) {
        return 1;
    } else if (enable == 2) {
        return 2;
    }
    if constexpr (sizeof(int) == 4) return 3;
    return 4;
}
"""


@pytest.fixture
def compiled(tmp_path, monkeypatch):
    """Compiles a model of one file, without running a tool: what the compiler would have read."""
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "Vtop.cpp").touch()
    _, run = pretended_tools()
    monkeypatch.setattr(build, "run_tools", run)
    monkeypatch.setenv("CELOSIA_CACHE", str(tmp_path / "cache"))

    def compile_it():
        compile_model(tmp_path)
        lines = (tmp_path / "often.cpp").read_text().splitlines()
        return [line.split('"')[1].rpartition("/")[2] for line in lines]

    return compile_it


def test_gcc_is_told_around_the_model(compiled):
    assert find_compiler().is_gcc
    assert compiled() == ["rare_branches.h", "Vtop.cpp", "branches.h", "harness.cpp"]


def test_other_compilers_are_not_told(compiled, tmp_path, monkeypatch):
    other = tmp_path / "other-compiler"
    other.write_text("#!/bin/sh\necho some compiler 1.0\n")
    other.chmod(0o755)
    monkeypatch.setenv("CXX", str(other))
    assert compiled() == ["Vtop.cpp", "harness.cpp"]


def test_branches_between_are_rare_and_their_conditions_are_whole(tmp_path):
    (tmp_path / "Vtop.h").touch()
    (tmp_path / "part.cpp").write_text(PROGRAM)
    (tmp_path / "after.cpp").write_text(PROGRAM.replace("step", "after"))
    names = [HEADERS[0], "part.cpp", HEADERS[1], "after.cpp"]
    (tmp_path / "all.cpp").write_text("".join(f'#include "{name}"\n' for name in names))
    command = [*find_compiler().command, "-std=c++17", f"-I{find_verilator().root}/include", "-I."]
    done = subprocess.run(
        [*command, "-E", "-P", "all.cpp"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    _, _, rest = done.stdout.partition("int step")
    part, _, after = rest.partition("int after")
    assert part.count("if (__builtin_expect(!!((enable, last)), 0)) {") == 1
    assert part.count("else if (__builtin_expect(!!(enable == 2), 0)) {") == 1
    assert part.count("if constexpr (sizeof(int) == 4)") == 1
    assert part.count("__builtin_expect") == 2
    assert "__builtin_expect" not in after
