"""The C driver of `examples/c/driver`: it compiles cleanly, and drives the simulated RTL."""

import ctypes
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from celosia.isa.encoding import FLUSH, RING_ENTRY, Command
from celosia.isa.memory import MEMORY_BASE, MemoryFault, MemoryTiming
from celosia.isa.operations.loops import expand
from celosia.isa.presets import resolve_config
from celosia.isa.registers.errors import Cause
from celosia.isa.registers.map import INTERFACE_VERSION
from celosia.sim.devices.verilated import VerilatorDevice
from celosia.sim.verilator.toolchain import find_compiler
from celosia.sw.driver.runtime import Compiled, compile_product, describe_product

ROOT = Path(__file__).parents[2]
CONFIG = resolve_config("tiny")
OK, BUSY, FAILED, STRANGER = range(4)
MEMORY_BYTES = 1 << 16
LAST = MEMORY_BASE + MEMORY_BYTES - 1
RING = MEMORY_BASE + 0x8008
ENTRIES = 8
"""Fewer than the commands of the product."""

FLAGS = ["-x", "c", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Werror"]
INCLUDES = [f"-I{ROOT / 'examples' / 'c' / 'driver'}", f"-I{ROOT / 'docs'}"]

READ32 = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
WRITE32 = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32)
PUBLISH = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint64)


class Bus(ctypes.Structure):
    """`struct bus` of the shim."""

    _fields_ = [("read32", READ32), ("write32", WRITE32), ("publish", PUBLISH)]


class CCommand(ctypes.Structure):
    """`struct celosia_command`."""

    _fields_ = [("funct", ctypes.c_uint32), ("rs1", ctypes.c_uint64), ("rs2", ctypes.c_uint64)]


class CError(ctypes.Structure):
    """`struct celosia_error`."""

    _fields_ = [
        ("cause", ctypes.c_uint),
        ("bus_id", ctypes.c_uint),
        ("command", ctypes.c_uint32),
        ("address", ctypes.c_uint64),
    ]


class Driver:
    """The C driver on a simulated device."""

    def __init__(self, library: ctypes.CDLL, device: VerilatorDevice):
        self.device = device
        self.library = library
        self.problems: list[Exception] = []
        self.ring = ctypes.create_string_buffer(ENTRIES * RING_ENTRY.size)
        self.bus = Bus(READ32(self._read), WRITE32(self._write), PUBLISH(self._publish))
        library.shim_submit.restype = library.shim_commands.restype = ctypes.c_uint64
        wide = ctypes.c_uint64
        library.shim_permit.argtypes = [wide] * 4
        library.shim_open_ring.argtypes = [ctypes.c_void_p, wide, ctypes.c_uint32]
        library.shim_set_patience.argtypes = [wide, ctypes.c_uint32]
        library.shim_submit.argtypes = library.shim_run.argtypes = [ctypes.c_void_p, wide]

    def init(self, dim: int = CONFIG.dim, bus_bits: int = CONFIG.bus_bits) -> int:
        return self.library.shim_init(ctypes.byref(self.bus), dim, bus_bits)

    def start(self) -> None:
        lib = self.library
        assert self.init() == OK
        assert lib.shim_permit(MEMORY_BASE, LAST, MEMORY_BASE, LAST) == OK
        assert lib.shim_set_patience(100_000, 10_000) == OK
        assert lib.shim_open_ring(ctypes.addressof(self.ring), RING, ENTRIES) == OK

    def error(self) -> CError:
        error = CError()
        self.library.shim_error(ctypes.byref(error))
        return error

    def _read(self, offset: int) -> int:
        try:
            return self.device.read_word(offset)
        except Exception as problem:
            self.problems.append(problem)  # ctypes would swallow it.
            return 0

    def _write(self, offset: int, value: int) -> None:
        try:
            self.device.write_word(offset, value)
        except Exception as problem:
            self.problems.append(problem)

    def _publish(self, entries: int, size: int) -> None:
        assert entries == ctypes.addressof(self.ring)
        self.device.write(RING, ctypes.string_at(entries, size))


def commands(program: Sequence[Command]) -> ctypes.Array:
    return (CCommand * len(program))(*(CCommand(*command) for command in program))


@pytest.fixture(scope="module")
def library(tmp_path_factory) -> ctypes.CDLL:
    path = tmp_path_factory.mktemp("c") / "shim.so"
    shim = Path(__file__).with_name("shim.c")
    command = [*find_compiler().command, *FLAGS, *INCLUDES, "-fPIC", "-shared", str(shim)]
    subprocess.run([*command, "-o", str(path)], check=True)
    return ctypes.CDLL(str(path))


@pytest.fixture
def driver(library) -> Iterator[Driver]:
    with VerilatorDevice(CONFIG, MemoryTiming(latency=10), MEMORY_BYTES) as device:
        driver = Driver(library, device)
        yield driver
        assert not driver.problems


def product(driver: Driver) -> tuple[Compiled, np.ndarray]:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-128, 128, shape, dtype=np.int8) for shape in ((9, 10), (10, 7)))
    compiled = compile_product(driver.device, describe_product(a, b))
    compiled.load(a, b)
    return compiled, a.astype(np.int32) @ b


def test_it_compiles_for_a_machine_without_an_operating_system(tmp_path):
    source = tmp_path / "empty.c"
    source.write_text('#include "celosia.h"\nint main(void) { return 0; }\n')
    command = [*find_compiler().command, *FLAGS, *INCLUDES, "-ffreestanding", "-fsyntax-only"]
    subprocess.run([*command, str(source)], check=True)


def test_a_program_longer_than_the_ring_runs(driver):
    compiled, wanted = product(driver)
    driver.start()
    assert len(compiled.commands) > 2 * ENTRIES
    for _ in range(2):
        driver.device.write(compiled.c.address, bytes(wanted.nbytes))
        assert driver.library.shim_run(commands(compiled.commands), len(compiled.commands)) == OK
        assert (compiled.result() == wanted).all()
    issued = list(expand(compiled.commands, driver.device.config))
    assert driver.library.shim_commands() == 2 * len(issued)


def test_a_full_ring_takes_no_more(driver):
    driver.start()
    program = commands([FLUSH.encode()] * 20)
    assert driver.library.shim_submit(program, 20) == ENTRIES - 1
    assert driver.library.shim_wait() == OK
    assert driver.library.shim_submit(program, 0) == 0
    assert driver.library.shim_submit(program, 3) == 3
    assert driver.library.shim_wait() == OK
    assert driver.library.shim_poll() == OK


def test_interrupts_are_told_and_acknowledged(driver):
    driver.start()
    driver.library.shim_enable_interrupts(1, 0)
    assert driver.library.shim_submit(commands([FLUSH.encode()]), 1) == 1
    assert driver.library.shim_wait() == OK
    while driver.library.shim_busy():
        pass
    assert driver.library.shim_acknowledge() == 0b01
    assert driver.library.shim_acknowledge() == 0


def test_an_error_is_told_and_cleared(driver):
    compiled, wanted = product(driver)
    driver.start()
    driver.device.inject(MemoryFault(way="read", place=compiled.a.address))
    program = commands(compiled.commands)
    assert driver.library.shim_run(program, len(program)) == FAILED
    error = driver.error()
    assert error.cause == Cause.READ_RESPONSE
    assert error.bus_id == 0
    assert error.command < len(program)
    assert error.address == compiled.a.address
    driver.device.forget_faults()
    while driver.library.shim_clear() == BUSY:
        pass
    assert driver.error().cause == Cause.NONE
    assert driver.library.shim_run(program, len(program)) == OK
    assert (compiled.result() == wanted).all()


def test_a_runaway_program_is_stopped(driver):
    compiled, _ = product(driver)
    driver.start()
    assert driver.library.shim_set_patience(20, 0) == OK
    program = commands(compiled.commands)
    assert driver.library.shim_run(program, len(program)) == FAILED
    assert driver.error().cause == Cause.CYCLE_BUDGET


def test_another_accelerator_is_refused(driver):
    assert driver.init(0, 0) == OK
    assert driver.init(dim=16) == STRANGER
    assert driver.init(bus_bits=512) == STRANGER
    words = {0: 0x12345678}
    device = driver.device
    driver.bus.read32 = READ32(lambda offset: words.get(offset, 0) or device.read_word(offset))
    assert driver.init() == STRANGER
    major, minor = INTERFACE_VERSION
    for version in (major + 1 << 16 | minor, major << 16 | minor - 1):
        words = {4: version}
        assert driver.init() == STRANGER
