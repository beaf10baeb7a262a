"""The rules of arrays in device memory."""

import re

import numpy as np
import pytest

from celosia.isa.memory import MEMORY_BASE
from celosia.isa.presets import PRESETS
from celosia.sim.devices.functional import FunctionalDevice
from celosia.sw.driver.buffers import POISON, BufferRuleError, Buffers

SIZE = 4096


@pytest.fixture
def buffers():
    device = FunctionalDevice(PRESETS["tiny"], memory_bytes=SIZE)
    yield Buffers(device)
    device.close()


def test_arrays_stand_behind_each_other_aligned(buffers):
    a = buffers.allocate("a", (3, 5), np.int8)
    b = buffers.allocate("b", (2,), np.int32)
    c = buffers.allocate("c", (1,), np.uint8, align=1)
    assert (a.address, a.size) == (MEMORY_BASE, 15)
    assert (b.address, b.size) == (MEMORY_BASE + 64, 8)
    assert c.address == b.end


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32])
def test_what_is_uploaded_comes_back(buffers, dtype):
    info = np.iinfo(dtype)
    array = np.array([[info.min, -1 if info.min else 1, info.max]]).astype(dtype)
    buffer = buffers.load("a", array)
    assert np.array_equal(buffers.download(buffer), array)
    assert buffers.download(buffer).dtype == dtype


def test_elements_are_little_endian_and_row_major(buffers):
    buffer = buffers.load("a", np.array([[1, 2], [3, 4]], np.int32).T)
    words = b"".join(x.to_bytes(4, "little") for x in (1, 3, 2, 4))
    assert buffers.device.read(buffer.address, 16) == words


def test_poison_fills_exactly_the_array(buffers):
    buffer = buffers.place("c", MEMORY_BASE + 5, (7,), np.int8)
    buffers.poison(buffer)
    around = buffers.device.read(MEMORY_BASE, 16)
    assert around == bytes(5) + bytes([POISON]) * 7 + bytes(4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a", MEMORY_BASE, (2, 0), np.int8), "a: shape (2, 0) has no elements"),
        (("a", MEMORY_BASE, (), np.int8), "a: shape () has no elements"),
        (("a", MEMORY_BASE, (2,), np.float32), "a: elements are float32, not int8, uint8, int32"),
        (("a", MEMORY_BASE, (2,), ">i4"), "a: elements are >i4, not int8, uint8, int32"),
        (("a", MEMORY_BASE + 2, (2,), np.int32), "address 0x80000002 is not a multiple of 4"),
        (("a", 0, (2,), np.int8), "a: int8 2 at 0x0..0x1: not inside the device's memory"),
        (("a", MEMORY_BASE + SIZE - 1, (2,), np.int8), "not inside the device's memory"),
        (("there", MEMORY_BASE + 512, (2,), np.int8), "there: there is an array of this name"),
        (
            ("a", MEMORY_BASE + 63, (2,), np.int8),
            "overlaps there: int8 8 at 0x80000040..0x80000047",
        ),
        (("a", MEMORY_BASE, (SIZE,), np.int8), "overlaps there"),
    ],
)
def test_a_broken_rule_is_named(buffers, arguments, message):
    buffers.place("there", MEMORY_BASE + 64, (8,), np.int8)
    with pytest.raises(BufferRuleError, match=re.escape(message)):
        buffers.place(*arguments)


def test_memory_that_is_full_is_an_error_and_leaves_nothing_behind(buffers):
    buffers.allocate("a", (SIZE - 100,), np.int8)
    with pytest.raises(BufferRuleError, match=r"b: int8 101 at .*not inside the device's memory"):
        buffers.allocate("b", (101,), np.int8)
    assert buffers.allocate("b", (64,), np.int8).size == 64


@pytest.mark.parametrize("align", [0, 3, -4])
def test_an_alignment_is_a_power_of_two(buffers, align):
    with pytest.raises(BufferRuleError, match=f"a: alignment {align} is not a power of two"):
        buffers.allocate("a", (1,), np.int8, align=align)


def test_an_array_of_another_shape_or_type_is_not_uploaded(buffers):
    buffer = buffers.allocate("a", (2, 3), np.int8)
    for wrong in (np.zeros((3, 2), np.int8), np.zeros((2, 3), np.uint8)):
        with pytest.raises(BufferRuleError, match=r"a: an array of u?int8 .* is not int8 \(2, 3\)"):
            buffers.upload(buffer, wrong)


def test_arrays_are_known_by_name_and_device(buffers):
    buffer = buffers.allocate("a", (2,), np.int8)
    assert buffers["a"] == buffer
    with pytest.raises(BufferRuleError, match="there is no array 'b'; there are: a"):
        buffers["b"]
    with pytest.raises(BufferRuleError, match="a: not an array of this device"):
        Buffers(buffers.device).download(buffer)
