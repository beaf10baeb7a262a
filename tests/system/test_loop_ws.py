"""LOOP_WS on the functional model and on the RTL, against NumPy."""

import numpy as np
import pytest

from celosia.isa.encoding import CONFIG_EX, CONFIG_LD, CONFIG_ST, FENCE, Command
from celosia.isa.encoding.gemmini_loops import LOOP_WS, LOOP_WS_CONFIGS
from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import PRESETS
from celosia.isa.registers.errors import Cause
from celosia.sim.devices.devices import open_device
from celosia.sw.driver.device import ISSUES, DeviceError, Issue

CONFIG = PRESETS["gemmini4"]
DIM = CONFIG.dim
M, N, K = 7, 5, 6
A, B, C, D = (MEMORY_BASE + 1024 * index for index in range(4))
BOUNDS, ADDRESSES_AB, ADDRESSES_DC, STRIDES_AB, STRIDES_DC = LOOP_WS_CONFIGS


def program(a_transpose: int, b_transpose: int) -> list[Command]:
    i, j, k = (-(-size // DIM) for size in (M, N, K))
    pads = {f"pad_{n}": x * DIM - size for n, x, size in (("i", i, M), ("j", j, N), ("k", k, K))}
    a_stride, b_stride = (M if a_transpose else K), (K if b_transpose else N)
    return [
        CONFIG_LD.encode(set=0, stride=a_stride, block_stride=DIM),
        CONFIG_LD.encode(set=1, stride=b_stride, block_stride=DIM),
        CONFIG_LD.encode(set=2, stride=4 * N, block_stride=DIM),
        CONFIG_ST.encode(stride=4 * N),
        BOUNDS.encode(i=i, j=j, k=k, **pads),
        ADDRESSES_AB.encode(a=A, b=B),
        ADDRESSES_DC.encode(d=D, c=C),
        STRIDES_AB.encode(a_stride=a_stride, b_stride=b_stride),
        STRIDES_DC.encode(d_stride=N, c_stride=N),
        LOOP_WS.encode(accumulate=1, full_c=1, a_transpose=a_transpose, b_transpose=b_transpose),
        FENCE.encode(),
    ]


def check(simulator: str, a_transpose: int, b_transpose: int, issue: Issue = "stream") -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(-128, 128, (M, K)), rng.integers(-128, 128, (K, N))
    d = rng.integers(-(1 << 20), 1 << 20, (M, N))
    device = open_device(simulator, CONFIG, memory_bytes=8192)
    device.write(A, (a.T if a_transpose else a).astype(np.int8).tobytes())
    device.write(B, (b.T if b_transpose else b).astype(np.int8).tobytes())
    device.write(D, d.astype("<i4").tobytes())
    commands = program(a_transpose, b_transpose)
    if a_transpose or b_transpose:
        commands.insert(0, CONFIG_EX.encode(a_transpose=a_transpose, b_transpose=b_transpose))
    device.run(commands, issue)
    got = np.frombuffer(device.read(C, 4 * M * N), "<i4").reshape(M, N)
    device.close()
    assert np.array_equal(got, a @ b + d)


@pytest.mark.parametrize("transposes", [(0, 0), (1, 0), (0, 1)])
def test_the_functional_model(transposes):
    check("functional", *transposes)


@pytest.mark.slow
@pytest.mark.parametrize("issue", ISSUES)
def test_the_rtl(issue):
    check("verilator", 0, 0, issue)
    check("verilator", 0, 1, issue)


@pytest.mark.nightly  # `tests/hw/gemmini/loops` has its parts on Amaranth's simulator.
def test_the_rtl_on_amaranth():
    check("amaranth", 1, 0, "ring")


def refused(*changed: Command) -> list[Command]:
    """A loop that works, and one with these commands in place of its own."""
    begun = program(0, 0)[:-1]
    functs = {command.funct: command for command in changed}
    return [*begun, *(functs.get(command.funct, command) for command in begun)]


FAULTS = {
    "more tiles than there are rows": refused(BOUNDS.encode(i=9000, j=9000, k=9000)),
    "pads of more than a tile": refused(BOUNDS.encode(i=1, j=1, k=1, pad_j=5)),
    "to the scratchpad": refused(LOOP_WS.encode()._replace(rs2=1 << 8)),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_what_can_not_be_is_an_error_of_the_same_command(fault):
    errors = []
    for simulator in ("functional", "verilator"):
        device = open_device(simulator, CONFIG, memory_bytes=1 << 16)
        with pytest.raises(DeviceError) as caught:
            device.run(FAULTS[fault])
        errors.append((caught.value.cause, caught.value.command))
        device.close()
    assert errors[0] == errors[1]
    assert errors[0][0] in (Cause.SHAPE, Cause.LOCAL_RANGE, Cause.UNKNOWN_FUNCT, Cause.READ_LIMIT)
