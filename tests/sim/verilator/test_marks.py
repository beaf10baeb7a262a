"""The counters at marks of a program, on all simulators."""

import random
from itertools import pairwise

import numpy as np
import pytest

from celosia.isa.address import GARBAGE, LocalAddress
from celosia.isa.encoding import (
    COMPUTE_ACCUMULATED,
    COMPUTE_PRELOADED,
    CONFIG_EX,
    CONFIG_LD,
    CONFIG_ST,
    FENCE,
    MVIN,
    MVOUT,
    PRELOAD,
    Command,
)
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.registers.events import COUNTERS, TABLES
from celosia.sw.driver.device import ISSUES, DeviceError
from celosia.sw.driver.runtime import compile_product, describe_product
from tests.support.open_devices import open_devices
from tests.support.plain import PLAIN

RTL = ("verilator", "amaranth")
# By day one test compares the two: what each takes of the same RTL is the same.
NIGHTLY = pytest.param("amaranth", marks=pytest.mark.nightly)
each_rtl = pytest.mark.parametrize("simulator", ["verilator", NIGHTLY])
CONFIG = PLAIN
DIM = CONFIG.dim
SIZE = 1 << 14
LATENCY = 60
TIMING = MemoryTiming(latency=LATENCY)
START = [CONFIG_EX.encode(), CONFIG_LD.encode(stride=DIM), CONFIG_ST.encode(stride=4 * DIM)]
ACCUMULATOR = LocalAddress(row=0, accumulator=True).encode()
COMPUTES = (COMPUTE_ACCUMULATED, COMPUTE_PRELOADED)


@pytest.fixture(scope="module")
def opened():
    with open_devices(CONFIG, TIMING, SIZE) as devices:
        yield devices


@pytest.fixture(scope="module")
def opened_on_a_slow_bus():
    timing = MemoryTiming(latency=12, bytes_per_cycle=3, stall_percent=20, seed=8)
    with open_devices(CONFIG, timing, SIZE) as devices:
        yield devices


def load(place: int, row: int) -> Command:
    """A tile to `DIM` rows."""
    address = MEMORY_BASE + DIM * DIM * place
    return MVIN.encode(dram=address, local=row, local_cols=DIM, local_rows=DIM)


def preload(row: int, rows: int = DIM) -> Command:
    """Weights from `row`; results to the accumulator."""
    return PRELOAD.encode(b=row, b_cols=DIM, b_rows=DIM, c=ACCUMULATOR, c_cols=DIM, c_rows=rows)


def compute(row: int, rows: int = DIM, again: bool = False) -> Command:
    """A product with rows from `row`."""
    kind = COMPUTE_ACCUMULATED if again else COMPUTE_PRELOADED
    return kind.encode(a=row, a_cols=DIM, a_rows=rows, d=GARBAGE, d_cols=DIM, d_rows=rows)


STORE = MVOUT.encode(dram=MEMORY_BASE, local=ACCUMULATOR, local_cols=DIM, local_rows=DIM)


def is_product(command: Command) -> bool:
    return any(kind.matches(command) for kind in COMPUTES)


def rows_of(counters: dict[str, int]) -> int:
    """Cycles in which a row of some product enters the array."""
    return counters["array_rows"] + counters["array_padding"]


def waits_for_load(counters):
    return sum(counters[name] for name in counters if name.startswith("wait_load_"))


def differences(counters: list[dict[str, int]], name: str) -> list[int]:
    return [later[name] - before[name] for before, later in pairwise(counters)]


def check_sums(result) -> None:
    """Each busy cycle has one owner, at each mark; nothing ever counts backwards."""
    for counters in (*result.marks, result.counters):
        assert counters.keys() == result.counters.keys()
        for unit in TABLES:
            assert sum(counters[owner.name] for owner in unit.owners) == counters["cycles"]
    for counter in COUNTERS:
        assert min(differences([*result.marks, result.counters], counter.name)) >= 0


def product(device, shape: tuple[int, int, int]):
    """A compiled product of several tiles."""
    (rows, inner, cols), rng = shape, np.random.default_rng(1)
    a = rng.integers(-128, 128, (rows, inner), dtype=np.int8)
    b = rng.integers(-128, 128, (inner, cols), dtype=np.int8)
    compiled = compile_product(device, describe_product(a, b), timing=device.timing)
    compiled.load(a, b)
    return compiled, a.astype(np.int32) @ b


@pytest.mark.parametrize("issue", ISSUES)
def test_marks_are_the_same_on_both_simulators_and_take_no_cycle(opened_on_a_slow_bus, issue):
    results = []
    for simulator in RTL:
        with opened_on_a_slow_bus(simulator) as device:
            compiled, expected = product(device, (4, 6, 5))
            device.ring_entries = 8
            assert len(compiled.commands) > device.ring_entries
            unmarked = device.run(compiled.commands, issue)
            marked = device.run(compiled.commands, issue, range(len(compiled.commands)))
            assert (compiled.result() == expected).all()
        assert unmarked.marks == ()
        check_sums(marked)
        results += [(unmarked.cycles, unmarked.counters), (marked.cycles, marked.counters)]
        results.append(marked.marks)
    assert results[:3] == results[3:]


@each_rtl
def test_between_two_marks_are_the_rows_of_the_products_between_them(opened, simulator):
    """Every row of every product, counted one by one."""
    rows = [DIM, 1, 3, DIM, 1, 1, 1, 2, DIM]
    program = [*START, load(0, 0), load(1, DIM)]
    for index, count in enumerate(rows):
        again = index in (4, 5, 6)  # Without weights: one cycle each.
        program += [preload(DIM, count), compute(0, count, again)]
    program += [STORE, FENCE.encode()]
    marks = [index for index, command in enumerate(program) if is_product(command)]
    with opened(simulator) as device:
        result = device.run(program, marks=marks)
    check_sums(result)
    assert differences([*result.marks, result.counters], "array_rows") == rows


@each_rtl
def test_a_mark_takes_what_stands_before_the_next_product(opened, simulator):
    program = [*START, load(0, 0), load(1, DIM), preload(DIM), compute(0), preload(DIM), compute(0)]
    program += [STORE, FENCE.encode()]
    first, second = (index for index, command in enumerate(program) if is_product(command))
    with opened(simulator) as device:
        marks = device.run(program, marks=range(len(program))).marks
        final = device.run(program, marks=[0]).counters
        assert [mark for mark in marks[: first + 1] if any(mark.values())] == []
        assert all(mark == marks[second] for mark in marks[first + 1 : second + 1])
        assert all(mark == final for mark in marks[second + 1 :])
        assert rows_of(marks[second]) == DIM
        few = [first, first, second, second, len(program) - 1]
        result = device.run(program, marks=few)
        assert result.marks == tuple(marks[index] for index in few)


@each_rtl
def test_what_a_product_waits_for_is_behind_its_mark(opened, simulator):
    """The second product's operand is not loaded before the first one has ended."""
    early = [*START, load(0, 0), load(1, DIM), preload(DIM), compute(0), FENCE.encode()]
    program = [*early, load(2, 2 * DIM), preload(DIM), compute(2 * DIM), STORE]
    marks = [index for index, command in enumerate(program) if is_product(command)]
    with opened(simulator) as device:
        result = device.run(program, marks=marks)
        alone = device.run(early)
    check_sums(result)
    zero, second = result.marks
    assert not any(zero.values())
    # Up to its last row, the first product takes what it takes without the second one.
    drain = alone.counters["drain"] + alone.counters["wait_command"]
    assert second["cycles"] >= alone.counters["cycles"] - drain
    assert waits_for_load(second) == waits_for_load(alone.counters)
    assert waits_for_load(result.counters) - waits_for_load(second) >= LATENCY
    assert (rows_of(second), rows_of(result.counters)) == (DIM, 2 * DIM)


@each_rtl
def test_without_products_all_marks_are_at_the_end(opened, simulator):
    program = [*START, load(0, 0), STORE]
    with opened(simulator) as device:
        result = device.run(program, marks=[0, 3, 4])
        assert result.marks == (result.counters,) * 3
        assert result.counters["cycles"] > LATENCY


@each_rtl
def test_marks_count_from_the_program_s_first_command(opened, simulator):
    program = [*START, load(0, 0), load(1, DIM), *[preload(DIM), compute(0)] * 3, STORE]
    bad = [*program[:8], load(SIZE, 0)]
    with opened(simulator) as device:
        first = device.run(program, marks=[0, 8, 10])
        again = device.run(program, marks=[0, 8, 10])
        assert [rows_of(mark) for mark in first.marks] == [0, DIM, 2 * DIM]
        assert [rows_of(mark) for mark in again.marks] == [0, DIM, 2 * DIM]
        with pytest.raises(DeviceError):
            device.run(bad, marks=[0, 8])
        after = device.run(program, marks=[8])
        assert [rows_of(mark) for mark in after.marks] == [DIM]
        assert device.run(program).marks == ()


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ([2, 1], "marks: 1 comes after 2: they must not descend"),
        ([-1], "mark -1: the program has no such command: it has 4"),
        ([0, 4], "mark 4: the program has no such command: it has 4"),
    ],
)
@pytest.mark.parametrize("simulator", ["functional", "verilator", NIGHTLY])
def test_impossible_marks_are_refused(opened, simulator, marks, message):
    with opened(simulator) as device, pytest.raises(ValueError, match=message):
        device.run([*START, load(0, 0)], marks=marks)


def test_the_functional_model_has_no_counters(opened):
    with opened("functional") as device:
        assert device.run([*START, load(0, 0)], marks=[0, 2]).marks == ()


def test_marks_anywhere_are_those_of_all_marks(opened):
    rng = random.Random(4)
    with opened("verilator") as device:
        compiled, _ = product(device, (13, 22, 9))
        count = len(compiled.commands)
        every = device.run(compiled.commands, marks=range(count)).marks
        for _ in range(8):
            some = sorted(rng.choices(range(count), k=rng.randint(1, 6)))
            marks = device.run(compiled.commands, marks=some).marks
            assert marks == tuple(every[index] for index in some)
