"""What is compared, and that nothing escapes the comparison."""

from dataclasses import replace

import numpy as np
import pytest

from celosia.isa.encoding import MVOUT, identify
from celosia.isa.memory import MEMORY_BASE, MemoryTiming
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.sim.devices.devices import open_device
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sim.run.checks import checked_product, checked_program
from celosia.sim.run.options.options import RunOptions, Target
from celosia.sim.run.programs.traffic import product_traffic
from celosia.sim.run.workload.run import run_workload
from celosia.sim.support.problems import InputError
from celosia.sim.support.progress import silent
from celosia.sim.workloads.details import Matmul
from celosia.sim.workloads.operands import random_operands
from celosia.sim.workloads.product_workloads import Operator
from celosia.sw.driver.device import DeviceError, RunResult
from celosia.sw.driver.program_file import parse_program
from celosia.sw.ir.matmul import MatMul
from celosia.sw.reference.matmul import matmul_reference
from tests.support.faulty_devices import EMPTY_LOG, Idle, Logging, Stopping

TINY = PRESETS["tiny"]
TIMING = MemoryTiming()
PROBLEM = MatMul(m=9, n=7, k=5, bias=True, scale=0.01)


class Flipping(FunctionalDevice):
    """Flips one bit of the first result when the program has ended."""

    def run(self, program, issue="stream", marks=()):
        result = super().run(program, issue)
        store = next(command for command in program if identify(command) is MVOUT)
        address = MVOUT.decode(store)["dram"]
        (byte,) = self.read(address, 1)
        self.write(address, bytes([byte ^ 0x10]))
        return result


class Clocked(FunctionalDevice):
    """Claims to have counted."""

    def run(self, program, issue="stream", marks=()):
        super().run(program, issue)
        counters = {"cycles": 1000, "read_bytes": 111, "write_bytes": 63, "array_rows": 40}
        return RunResult(990, counters, 0.5)


def measure(device_type, problem=PROBLEM, memory_bytes=1 << 20):
    device = device_type(TINY, memory_bytes=memory_bytes)
    return checked_product(device, Operator("x", random_operands(problem, 0)), TIMING)


@pytest.mark.parametrize(
    "problem",
    [
        PROBLEM,
        replace(PROBLEM, scale=None),
        replace(PROBLEM, relu=True),
        replace(PROBLEM, b_transposed=True, bias=False),
        replace(PROBLEM, a_unsigned=True),
    ],
    ids=str,
)
def test_a_right_result_is_right(problem):
    measured, c = measure(FunctionalDevice, problem)
    assert measured.right
    assert (measured.mismatches, measured.elements_checked) == (0, 63)
    assert measured.macs == 9 * 7 * 5
    assert measured.shape == "9x7x5"
    operands = random_operands(problem, 0)
    b = operands.b.T if problem.b_transposed else operands.b
    definition = matmul_reference(
        operands.a, b, operands.bias, scale=problem.scale, relu=problem.relu
    )
    assert np.array_equal(c, definition)


def test_one_wrong_bit_in_memory_is_found():
    measured, _ = measure(Flipping)
    assert not measured.right
    assert (measured.mismatches, measured.elements_checked) == (1, 63)


def test_one_wrong_bit_in_memory_is_exit_code_1():
    def flipping(name, config, timing=TIMING, memory_bytes=1 << 20, *, progress=silent):
        return Flipping(config, memory_bytes=memory_bytes, seed=timing.seed)

    options = RunOptions(
        workload="matmul",
        details=Matmul(shape="9x7x5"),
        target=Target(simulator="functional", preset="tiny"),
    )
    assert run_workload(options).report.exit_code == 0
    report = run_workload(options, opener=flipping).report
    assert report.exit_code == 1
    assert report.document()["status"] == "wrong"
    assert report.document()["mismatches"] == 1


def test_results_that_were_never_written_are_wrong():
    measured, _ = measure(Idle)
    # All but those that happen to be what the buffer was filled with.
    assert (measured.mismatches or 0) > 55


def test_a_device_that_stops_is_a_failure_that_names_the_command():
    measured, _ = measure(Stopping)
    assert not measured.right
    assert measured.failure is not None
    assert measured.failure.cause == Cause.NONE.name
    assert measured.failure.command == 3
    assert "watchdog" in measured.failure.message
    assert measured.cycles is None


def test_counters_are_taken_from_a_device_that_has_them():
    measured, _ = measure(Clocked)
    assert (measured.cycles, measured.sim_cycles_per_second) == (990, 1980)
    assert (measured.dram_read_bytes, measured.dram_write_bytes) == (111, 63)
    assert measured.utilization(TINY) == pytest.approx(315 / (16 * 990))


def test_without_counters_the_commands_tell_the_bytes():
    measured, _ = measure(FunctionalDevice)
    assert measured.dram_write_bytes == 63
    assert measured.dram_read_bytes >= 9 * 5 + 5 * 7 + 4 * 7
    assert measured.cycles is None
    assert measured.sim_cycles_per_second is None
    assert measured.utilization(TINY) is None


def test_a_measured_product_has_its_problem_program_and_log():
    measured, _ = measure(FunctionalDevice)
    assert measured.problem == PROBLEM
    assert measured.entries
    assert measured.program_bytes == 24 * measured.entries
    assert measured.commands >= measured.entries
    assert measured.predicted_cycles
    assert measured.limit is not None
    assert measured.limit.cycles <= measured.predicted_cycles
    assert measured.least_traffic == product_traffic(PROBLEM)
    assert measured.elapsed_seconds > 0
    assert measured.executed is None
    logged, _ = measure(Logging)
    assert logged.executed is not None
    assert logged.executed.log is EMPTY_LOG
    assert len(logged.executed.commands) == measured.commands
    assert set(logged.executed.operators) == {"x"}
    assert 'graph = "x"' in logged.executed.schedule


def test_a_product_beyond_the_memory_is_refused():
    with pytest.raises(InputError, match=r"x: c: .* not inside the device's memory"):
        measure(FunctionalDevice, memory_bytes=200)


COPY = """
.preset tiny
.random 0x80001000 16 7
.check 0x80003000 12
.check 0x80003008 8
config_ld stride=4
config_st stride=4
mvin dram=0x80001000 local=sp[0] local_cols=4 local_rows=4
mvout dram=0x80003000 local=sp[0] local_cols=4 local_rows=4
"""


def check(text, device_type=FunctionalDevice):
    program = parse_program(text)
    memory_bytes = program.memory_bytes
    device = device_type(TINY, memory_bytes=memory_bytes, seed=1)
    model = open_device("functional", TINY, MemoryTiming(seed=2), memory_bytes)
    return checked_program("copy", program, device, model)


def test_a_program_is_compared_byte_by_byte_and_each_byte_once():
    measured = check(COPY)
    assert measured.right
    assert measured.elements_checked == 16


def test_one_wrong_bit_of_a_program_is_found():
    assert check(COPY, Flipping).mismatches == 1


def test_a_program_whose_results_are_garbage_is_wrong():
    assert (check(COPY.replace("mvin", "#")).mismatches or 0) > 8


def test_both_stopping_is_a_failure():
    measured = check(COPY + ".word 0x7f 0 0")
    assert measured.failure is not None
    assert measured.failure.cause == "UNKNOWN_FUNCT"
    assert measured.failure.command == 4


def test_only_the_model_stopping_is_a_failure():
    measured = check(COPY + ".word 0x7f 0 0", Idle)
    assert measured.failure is not None
    assert measured.failure.message.startswith("only the functional model stops: UNKNOWN_FUNCT")


def test_what_programs_read_from_memory_is_what_the_file_says():
    program = parse_program(COPY)
    device = FunctionalDevice(TINY, memory_bytes=program.memory_bytes)
    device.write(MEMORY_BASE, b"\xee" * program.memory_bytes)
    model = FunctionalDevice(TINY, memory_bytes=program.memory_bytes)
    assert checked_program("copy", program, device, model).right
    assert device.read(MEMORY_BASE, 64) == bytes(64)


@pytest.mark.parametrize(
    ("checks", "size"),
    [
        (((0, 4), (4, 4)), 8),
        (((0, 4), (5, 4)), 8),
        (((0, 4), (3, 4)), 7),
        (((5, 4), (0, 4)), 8),
        (((0, 9), (2, 3), (4, 2)), 9),
        (((0, 4), (0, 4), (12, 1)), 5),
        (((0, 2), (8, 2), (1, 8)), 10),
    ],
)
def test_regions_that_touch_or_overlap_are_compared_once(checks, size):
    lines = [f".check {0x80003000 + first} {length}" for first, length in checks]
    text = "\n".join(line for line in COPY.splitlines() if ".check" not in line)
    measured = check("\n".join([*lines, text]).replace(".preset tiny", ""), Flipping)
    assert measured.elements_checked == size
    assert measured.mismatches == any(first == 0 for first, _ in checks)


class Begun(FunctionalDevice):
    """Stops with what it knows of the commands that had begun."""

    def __init__(self, *given, **more):
        super().__init__(*given, **more)
        self.known: dict[str, int | None] = {}

    def run(self, program, issue="stream", marks=()):
        super().run(program, issue, marks)
        error = DeviceError("it stops", Cause.WATCHDOG, self.known.get("command"))
        error.begun = self.known.get("begun")
        raise error


@pytest.mark.parametrize(
    ("known", "most"),
    [
        ({"begun": 2, "command": 1}, 2),
        ({"begun": 1, "command": 3}, 3),
        ({"command": 2}, 2),
        ({}, 4),
    ],
)
def test_the_model_executes_what_had_begun(monkeypatch, known, most):
    program = parse_program(COPY)
    device = Begun(TINY, memory_bytes=program.memory_bytes)
    device.known = known
    model = FunctionalDevice(TINY, memory_bytes=program.memory_bytes)
    limits: list[int] = []
    monkeypatch.setattr(model, "limit_cycles", limits.append)
    measured = checked_program("copy", program, device, model)
    assert limits == [most]
    assert measured.failure is not None
    assert measured.failure.message == "it stops"
    # The load is command 2, and the store command 3.
    assert (measured.dram_read_bytes, measured.dram_write_bytes) == (
        16 * (most > 2),
        16 * (most > 3),
    )
