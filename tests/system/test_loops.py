"""Loops on all simulators: what they do, what is wrong with them, and what becomes of the rest."""

from contextlib import closing

import pytest

from celosia.isa.encoding import (
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_PRODUCTS,
    CONFIG_ST,
    FENCE,
    MVIN,
    MVOUT,
    PRODUCTS,
    REPEAT,
    STRIDE,
    Command,
)
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.operations.loops import expand
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.sim.devices import rtl_device
from celosia.sim.devices.devices import open_device
from celosia.sim.verilator.harness import settings
from celosia.sw.driver.device import ISSUES, DeviceError

SIMULATORS = ("functional", "verilator")
SIZE = 1 << 14
DATA = bytes(range(256)) * 8
TILE = 16
RESULT = MEMORY_BASE + 8192
START = [
    CONFIG_EX.encode(),
    CONFIG_LD.encode(stride=4, block_stride=4),
    CONFIG_ST.encode(stride=16),
    CONFIG_PRODUCTS.encode(a_k=4, w_k=4, w_column=8, c_column=4),
]
LOAD = MVIN.encode(dram=MEMORY_BASE, local_cols=4, local_rows=4)
PRODUCT = PRODUCTS.encode(
    w=512, overwrite=1, rows=4, k=2, pieces=1, columns=2, last_depth=4, last_cols=4
)
STORE = MVOUT.encode(dram=RESULT, local=1 << 31 | 1 << 29, local_cols=4, local_rows=4)


def loads(count: int, local: int, place: int = 0) -> list[Command]:
    first = MVIN.encode(
        dram=MEMORY_BASE + place * TILE, local=local, local_cols=4, local_rows=4
    )  # fmt: skip
    return [REPEAT.encode(count=count, length=2), first, STRIDE.encode(addend1=TILE, addend2=4)]


STORES = [REPEAT.encode(count=2, length=2), STORE, STRIDE.encode(addend1=64, addend2=4)]
PROGRAM = [*START, *loads(2, 0), *loads(4, 512, place=2), PRODUCT, *STORES, FENCE.encode()]


def opened(simulator: str) -> closing:
    device = open_device(simulator, PRESETS["tiny"], MemoryTiming(latency=20), SIZE)
    device.write(MEMORY_BASE, DATA)
    return closing(device)


def result(device, program, issue="stream", marks=()) -> tuple[bytes, tuple[int, ...]]:
    """What it leaves, and rows of the array at each mark."""
    device.write(RESULT, bytes(512))
    done = device.run(program, issue, marks)
    rows = tuple(counters["array_rows"] for counters in done.marks)
    return device.read(RESULT, 512), rows


@pytest.fixture(scope="module")
def wanted() -> bytes:
    """Without loops."""
    with opened("functional") as device:
        program = [command for _, command in expand(PROGRAM, device.config)]
        return result(device, program)[0]


@pytest.mark.parametrize("issue", ISSUES)
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_loops_do_what_they_stand_for(simulator, issue, wanted):
    with opened(simulator) as device:
        for _ in range(2):
            assert result(device, PROGRAM, issue)[0] == wanted


def test_marks_and_counters_are_those_of_the_program_without_loops(wanted):
    with opened("verilator") as device:
        flat = [command for _, command in expand(PROGRAM, device.config)]
        marks = [0, 11, 14, 16, len(flat) - 1]
        assert result(device, PROGRAM, "stream", marks) == result(device, flat, "stream", marks)
        commands = [device.run(each).counters["commands"] for each in (PROGRAM, flat)]
        assert commands == [len(flat)] * 2
        with pytest.raises(ValueError, match="the program has no such command"):
            device.run(PROGRAM, marks=[len(flat)])


@pytest.mark.parametrize("issue", ISSUES)
def test_a_stop_within_a_loop_forgets_the_rest(issue, wanted):
    """Stores run out of memory: nothing more is issued, and after a clear it works again."""
    outside = [REPEAT.encode(count=2000, length=2), STORE, STRIDE.encode(addend1=4 * TILE)]
    messages = []
    for simulator in SIMULATORS:
        with opened(simulator) as device:
            with pytest.raises(DeviceError) as error:
                device.run([*START, *outside, *PROGRAM], issue)
            assert error.value.cause is Cause.WRITE_LIMIT
            assert error.value.command == len(START) - 1 + (MEMORY_BASE + SIZE - RESULT) // (
                4 * TILE
            )
            messages.append(str(error.value).partition("command ")[2])
            assert result(device, PROGRAM, issue)[0] == wanted
    assert messages[0] == messages[1]
    assert "(entry 5 of the program: mvout" in messages[0]


TWICE = REPEAT.encode(count=2, length=2)
WRONG = {
    "stride": [BY := STRIDE.encode(addend1=1)],
    "no iteration": [REPEAT.encode(count=0, length=1), LOAD],
    "no body": [REPEAT.encode(count=3, length=0), LOAD],
    "large body": [REPEAT.encode(count=3, length=257), LOAD],
    "stride too many": [REPEAT.encode(count=3, length=4), LOAD, BY, BY, LOAD],
    "stride of repeat": [*loads(2, 0)[:1], REPEAT.encode(count=1, length=1), BY, LOAD],
    "inner ends outside": [
        REPEAT.encode(count=2, length=2),
        REPEAT.encode(count=1, length=2),
        LOAD,
        LOAD,
    ],
    "too deep": [REPEAT.encode(count=1, length=5 - depth) for depth in range(5)] + [LOAD],
    "inner without iteration": [
        REPEAT.encode(count=2, length=3),
        LOAD,
        REPEAT.encode(length=1),
        LOAD,
    ],
    "products of no rows": [PRODUCTS.encode(k=1, pieces=1, columns=1, last_depth=4, last_cols=4)],
}


@pytest.mark.parametrize("issue", ISSUES)
def test_what_is_not_well_formed_is_named(issue):
    with opened("functional") as model, opened("verilator") as device:
        for name, wrong in WRONG.items():
            found = []
            for each in (model, device):
                with pytest.raises(DeviceError) as error:
                    each.run([*PROGRAM, *wrong, LOAD], issue)
                found.append((error.value.cause, str(error.value)))
            assert found[0] == found[1], name
            assert found[0][0] is Cause.LOOP, name


@pytest.mark.parametrize("issue", ISSUES)
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_program_that_ends_within_a_body_does_not_run(simulator, issue):
    with opened(simulator) as device, pytest.raises(ValueError, match="ends 1 command before"):
        device.run(loads(2, 0)[:2], issue)


@pytest.mark.parametrize("issue", ISSUES)
def test_the_watchdog_knows_whoever_waits_for_a_body(issue, monkeypatch, wanted):
    """A host that looks at nothing before it runs a program."""
    monkeypatch.setattr(settings, "WATCHDOG_EDGES", 400)
    monkeypatch.setattr(rtl_device, "check_program", lambda *_: None)
    with opened("verilator") as device:
        with pytest.raises(DeviceError, match=r"loop engine waits for 3 more .* body") as error:
            device.run([*START, REPEAT.encode(count=2, length=5), LOAD, LOAD], issue)
        assert error.value.cause is Cause.WATCHDOG
        assert result(device, PROGRAM, issue)[0] == wanted
