"""Loads that wait for stores, on all simulators."""

import pytest

from celosia.isa.encoding import CONFIG_LD, CONFIG_ST, CONFIG_TOKEN, FENCE, MVIN, MVOUT, Command
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.registers.errors import Cause
from celosia.sim.verilator.harness import settings
from celosia.sw.driver.device import ISSUES, DeviceError
from tests.support.open_devices import open_devices
from tests.support.plain import PLAIN

SIMULATORS = ("functional", "verilator", "amaranth")
each_simulator = pytest.mark.parametrize(
    # The RTL is the same: by day one of its simulators shows what it does.
    "simulator",
    ["functional", "verilator", pytest.param("amaranth", marks=pytest.mark.nightly)],
)
SIZE = 1 << 14
TIMING = MemoryTiming(latency=20)
START = [CONFIG_LD.encode(stride=4), CONFIG_ST.encode(stride=4), CONFIG_TOKEN.encode()]
TOKEN = 3


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """Nothing here takes long."""
    monkeypatch.setattr(settings, "WATCHDOG_EDGES", 400)
    monkeypatch.setattr(settings, "WATCHDOG_LATENCIES", 10)


@pytest.fixture(scope="module")
def opened():
    with open_devices(PLAIN, TIMING, SIZE) as devices:
        yield devices


def load(place: int, row: int) -> Command:
    """16 bytes to four rows."""
    return MVIN.encode(dram=MEMORY_BASE + 16 * place, local=row, local_cols=4, local_rows=4)


def store(place: int, row: int) -> Command:
    """Four rows to 16 bytes."""
    return MVOUT.encode(dram=MEMORY_BASE + 16 * place, local=row, local_cols=4, local_rows=4)


def token(signal: int | None = None, count: int | None = None) -> Command:
    """Stores add to `signal`, and loads wait for `count` of `TOKEN`."""
    return CONFIG_TOKEN.encode(
        signal=signal is not None,
        signal_id=signal or 0,
        wait=count is not None,
        wait_id=TOKEN,
        count=count or 0,
    )


def message(device, program, issue) -> str:
    """Of the error that `program` ends with."""
    with pytest.raises(DeviceError) as error:
        device.run([*START, *program], issue)
    assert error.value.cause is Cause.WATCHDOG
    return str(error.value)


def relay(steps: int, ordered: bool) -> list[Command]:
    """16 bytes go to place 0, come back, go to place 1, and so on, through other rows each time."""
    program = [FENCE.encode(), load(100, 0)]
    for step in range(steps):
        count = step + 1 if ordered else None
        program += [
            token(TOKEN),
            store(step, 4 * step),
            token(count=count),
            load(step, 4 * step + 4),
        ]
    return [*START, *program, token(), store(steps, 4 * steps)]


@pytest.mark.parametrize("issue", ISSUES)
def test_what_was_stored_is_loaded(opened, issue):
    data, cycles = bytes(range(100, 116)), set()
    for simulator in SIMULATORS:
        with opened(simulator) as device:
            device.write(MEMORY_BASE + 1600, data)
            cycles.add(device.run(relay(6, ordered=True), issue).cycles)
            assert device.read(MEMORY_BASE, 7 * 16) == data * 7
    assert len(cycles - {None}) == 1


def test_without_tokens_old_data_are_loaded(opened):
    with opened("verilator") as device:
        device.write(MEMORY_BASE + 1600, bytes(range(100, 116)))
        device.run(relay(6, ordered=False))
        assert device.read(MEMORY_BASE + 6 * 16, 16) == bytes(16)


@pytest.mark.parametrize("issue", ISSUES)
@each_simulator
def test_a_count_that_is_never_reached_names_its_token(opened, simulator, issue):
    stores = [token(TOKEN), store(0, 0), store(1, 0), token(TOKEN + 1), store(2, 0)]
    waits = [token(count=5), load(3, 4), load(4, 8)]
    with opened(simulator) as device:
        text = "load waits for token 3: 2 of 5 stores have finished"
        assert text in message(device, [*stores, *waits, store(5, 0)], issue)
        # The error has cleared the counters; a program that keeps to them works.
        text = "load waits for token 3: 0 of 1 stores have finished"
        assert text in message(device, [token(count=1), load(3, 4)], issue)
        device.run([*START, *stores, token(count=2), load(3, 4), token()], issue)


@each_simulator
def test_counters_last_until_a_fence(opened, simulator):
    stores = [*START, token(TOKEN), *[store(place, 0) for place in range(7)]]
    waits = [*START, token(count=7), load(3, 4)]
    with opened(simulator) as device:
        device.run(stores)
        device.run(waits)
        text = "load waits for token 3: 0 of 1 stores have finished"
        assert text in message(device, [FENCE.encode(), token(count=1), load(3, 4)], "stream")


@each_simulator
def test_a_store_of_nothing_does_not_count(opened, simulator):
    nothing = MVOUT.encode(dram=MEMORY_BASE, local=0, local_cols=4, local_rows=0)
    program = [token(TOKEN), store(0, 0), nothing, token(count=2), load(3, 4)]
    with opened(simulator) as device:
        assert "token 3: 1 of 2 stores" in message(device, program, "stream")


def test_nobody_but_loads_waits(opened):
    """Stores and commands behind a load that waits for ever."""
    program = [load(9, 0), token(count=7), load(8, 20), *[store(place, 0) for place in range(6)]]
    with opened("verilator") as device:
        device.write(MEMORY_BASE + 9 * 16, bytes(range(16)))
        assert "token 3: 0 of 7" in message(device, program, "stream")
        assert device.read(MEMORY_BASE, 6 * 16) == bytes(range(16)) * 6
