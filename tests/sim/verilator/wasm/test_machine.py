"""What JavaScript knows of a machine is what the native simulator is driven by."""

import base64
import subprocess
from pathlib import Path

import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.events import COUNTERS
from celosia.isa.registers.map import REGISTERS
from celosia.sim.verilator.harness.settings import bench_config
from celosia.sim.verilator.wasm import machine as described
from celosia.sim.verilator.wasm.machine import SOURCES, machine
from tests.support.wasm_node import NODE, needs_node

TINY = PRESETS["tiny"]
SIZE = 1 << 16


def number(data, place, size):
    return int.from_bytes(data[place : place + size], "little")


def test_a_bench_whose_fields_are_changed_is_that_of_another_memory():
    found = machine(TINY, MemoryTiming(), SIZE)
    data, fields = bytearray(base64.b64decode(found["bench"])), found["benchFields"]
    patience = found["patience"] + 70 * found["patiencePerLatency"]
    for name, size, value in (
        ("latency", 4, 70),
        ("bytesPerCycle", 4, 2),
        ("watchdog", 8, patience + found["margin"]),
    ):
        data[fields[name] : fields[name] + size] = value.to_bytes(size, "little")
    assert data == bytes(bench_config(TINY, MemoryTiming(latency=70, bytes_per_cycle=2), SIZE))


def test_programs_may_touch_the_memory_and_nothing_else():
    written = {}
    for offset, word in machine(TINY, MemoryTiming(), SIZE)["before"]:
        name = next(name for name, register in REGISTERS.items() if register.offset == offset)
        written[name] = word
    for way in ("READ", "WRITE"):
        assert written[f"{way}_BASE_LO"] == MEMORY_BASE
        assert written[f"{way}_LIMIT_LO"] == MEMORY_BASE + SIZE - 1
    assert REGISTERS["CONTROL"].unpack(written["CONTROL"])["clear_counters"] == 1
    assert REGISTERS["CONTROL"].unpack(written["CONTROL"])["ring_enable"] == 0


def test_each_counter_has_its_registers():
    counters = machine(TINY, MemoryTiming(), SIZE)["counters"]
    assert list(counters) == [each.name for each in COUNTERS]
    assert counters["cycles"] == (
        REGISTERS["COUNTER_CYCLES_LO"].offset,
        REGISTERS["COUNTER_CYCLES_HI"].offset,
    )


def test_a_memory_that_there_is_not_is_refused():
    with pytest.raises(ValueError, match="latency: 0 is not in 1"):
        machine(TINY, MemoryTiming(latency=0), SIZE)


@needs_node
@pytest.mark.parametrize("name", SOURCES)
def test_the_scripts_are_javascript(name):
    path = Path(described.__file__).parent / name
    done = subprocess.run([str(NODE), "--check", path], capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
