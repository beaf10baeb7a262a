"""Modules of WebAssembly: how they are built, and that they compute what the native simulator does.

Programs run under Node, on the script that the page has.
"""

import hashlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from celosia.isa.encoding import CONFIG_EX, FENCE, MVIN
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.support import cache, extras
from celosia.sim.support.errors import EnvironmentProblem
from celosia.sim.verilator import build
from celosia.sim.verilator.wasm import modules
from celosia.sim.verilator.wasm.machine import SOURCES
from celosia.sim.verilator.wasm.modules import EXPORTS, is_compiled, wasm_module
from celosia.sw.driver.program_file import load_program
from tests.support.tool_runs import pretended_tools
from tests.support.wasm_node import job_of, needs_node, needs_zig, on_node

TINY = PRESETS["tiny"]
SIZE = 1 << 16
EXAMPLE = Path(__file__).parents[4] / "examples" / "product.cel"


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An empty cache, and a compiler that is there."""
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setattr(modules, "check_compiler", lambda: None)
    monkeypatch.setattr(modules.metadata, "version", lambda name: "1")
    monkeypatch.setattr(modules, "usual_verilog", lambda config: f"module for {config.dim};")
    return tmp_path / "cache"


@pytest.fixture
def tools(monkeypatch):
    """The tools that are run, instead of running them: each makes the file that it should."""
    ran, run = pretended_tools()
    monkeypatch.setattr(modules, "run_tools", run)
    monkeypatch.setattr(build, "run_tools", run)
    monkeypatch.setattr(build, "_faster", lambda text: text)
    monkeypatch.setattr(modules, "_write_watched", lambda config, work: None)
    return ran


def test_without_the_compiler_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda package: None)
    with pytest.raises(EnvironmentProblem, match=r"package ziglang: pip install -e '\.\[page\]'"):
        wasm_module(TINY)


def test_a_module_is_compiled_once(store, tools):
    told = []
    assert not is_compiled(TINY)
    path = wasm_module(TINY, lambda text, done: told.append(text))
    assert path.read_text() == "made"
    assert told == [
        "writing the Verilog",
        "translating the Verilog to C++",
        "compiling the C++ to WebAssembly",
    ]
    compiled = len(tools)
    assert wasm_module(TINY) == path
    assert is_compiled(TINY)
    assert len(tools) == compiled


def test_the_runtime_is_compiled_for_the_first_module_only(store, tools):
    wasm_module(TINY)
    wasm_module(replace(TINY, scratchpad_kib=32))
    outputs = [command[command.index("-o") + 1] for command in tools if "-o" in command]
    assert outputs.count("runtime.o") == 1
    assert outputs.count("often.o") == outputs.count("rare.o") == 2


def test_what_javascript_calls_is_exported(store, tools):
    wasm_module(TINY)
    assert {f"-Wl,--export={name}" for name in EXPORTS} <= set(tools[-1])
    text = "".join((Path(modules.__file__).parent / name).read_text() for name in SOURCES)
    called = {part.split("(")[0] for part in text.split("calls.")[1:]} - {"memory"}
    assert {name for name in called if name.startswith(("celosia", "malloc", "free"))} == set(
        EXPORTS
    ) - {"celosia_destroy", "celosia_reset"}


@needs_node
@needs_zig
@pytest.mark.nightly
def test_what_goes_wrong_is_a_sentence_and_a_place(tmp_path):
    wild, last = (
        MVIN.encode(dram=dram, local=0, local_cols=4, local_rows=4) for dram in (0x1000, 2**64 - 1)
    )
    found = on_node(
        TINY,
        [
            job_of(bytes(64), [CONFIG_EX.encode(), wild, FENCE.encode()]),
            job_of(bytes(64), [FENCE.encode()] * 1000, budget=20),
            job_of(bytes(64), [FENCE.encode()]),
            job_of(bytes(64), [last, FENCE.encode()]),
            job_of(bytes(64), [FENCE.encode()], budget=1),
        ],
        SIZE,
        tmp_path,
    )
    assert found[0]["problem"].startswith("READ_LIMIT: a read outside the permitted range")
    assert found[0]["command"] == 1
    assert found[1]["problem"] == "it was stopped after 20 cycles"
    assert 0 <= found[1]["command"] < 1000
    assert found[2]["problem"] == ""
    assert found[2]["state"] == "DONE"
    assert found[3]["problem"].endswith(f"memory at address {2**64 - 1:#x}")
    assert found[4]["problem"] == "it was stopped after 1 cycle"


@needs_node
@needs_zig
@pytest.mark.nightly
def test_memory_cycles_and_counters_are_those_of_the_native_simulator(tmp_path):
    program = load_program(EXAMPLE)
    memory, jobs, expected = program.memory_image(), [], []
    for timing in (MemoryTiming(), MemoryTiming(latency=7, bytes_per_cycle=4)):
        with closing(VerilatorDevice(TINY, timing, len(memory))) as device:
            device.write(MEMORY_BASE, memory)
            result = device.run(program.commands)
            digest = hashlib.sha256(device.read(MEMORY_BASE, len(memory))).hexdigest()
        expected.append((result.cycles, digest, result.counters))
        jobs.append(job_of(memory, program.commands, timing))
    found = on_node(TINY, jobs, len(memory), tmp_path)
    assert [(each["cycles"], each["digest"], each["counters"]) for each in found] == expected
    assert expected[0][0] != expected[1][0]
