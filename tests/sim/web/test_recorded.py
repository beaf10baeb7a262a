"""Recordings: what a program leaves, and that WebAssembly leaves the same in the same cycles."""

import hashlib
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.run import checks
from celosia.sim.web.programs import MACHINES, PROGRAMS
from celosia.sim.web.recorded import MEMORY_BYTES, WrongResultError, record
from celosia.sw.models.cases import matmul_case
from tests.support.wasm_node import job_of, needs_node, needs_zig, on_node

USUAL = MemoryTiming()
SLOW = MemoryTiming(latency=100, bytes_per_cycle=4)


def test_the_functional_model_leaves_the_same_memory():
    base = PRESETS["base"]
    found = record(matmul_case(16, 16, 16, 1), base, USUAL)
    device = FunctionalDevice(base, memory_bytes=MEMORY_BYTES, seed=5)
    device.write(MEMORY_BASE, found.memory)
    device.run(found.commands)
    after = device.read(MEMORY_BASE, len(found.memory))
    assert hashlib.sha256(after).hexdigest() == found.digest
    assert hashlib.sha256(found.memory).hexdigest() != found.digest
    assert found.cycles > 0


def test_another_memory_runs_the_same_program_for_longer():
    case, base = matmul_case(16, 16, 16, 1), PRESETS["base"]
    usual, slow = (record(case, base, timing) for timing in (USUAL, SLOW))
    assert (slow.memory, slow.commands, slow.digest) == (usual.memory, usual.commands, usual.digest)
    assert slow.cycles > usual.cycles


def test_a_wrong_result_is_no_recording(monkeypatch):
    def wrong(case, config):
        return {"out": np.full((16, 16), 99, np.int8)}

    monkeypatch.setattr(checks, "expected_of", wrong)
    with pytest.raises(WrongResultError, match="matmul 16x16x16: wrong results"):
        record(matmul_case(16, 16, 16, 1), PRESETS["base"], USUAL)


@needs_node
@needs_zig
@pytest.mark.nightly
@pytest.mark.parametrize("machine", MACHINES, ids=lambda each: each.preset)
def test_webassembly_computes_what_the_native_simulator_does(machine, tmp_path):
    """Each program on the usual memory, and two of them on others, what ifs of the page."""
    wanted = [(name, USUAL) for name in PROGRAMS]
    wanted += [
        (name, replace(USUAL, **changes))
        for name, changes in product(
            ("small-product", "softmax"), ({"latency": 400}, {"bytes_per_cycle": 1})
        )
    ]
    found = [record(PROGRAMS[name].make(), machine.config, timing) for name, timing in wanted]
    jobs = [
        job_of(each.memory, each.commands, timing)
        for each, (_, timing) in zip(found, wanted, strict=True)
    ]
    results = on_node(machine.config, jobs, MEMORY_BYTES, tmp_path)
    assert [(each["cycles"], each["digest"]) for each in results] == [
        (each.cycles, each.digest) for each in found
    ]
