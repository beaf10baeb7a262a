"""Bytes and strided rows of a simulated memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.sim.devices.flat_memory import FlatMemory, OutsideMemoryError

BASE, SIZE = 0x8000_0000, 256
WORD = 1 << 64


def counting_memory() -> FlatMemory:
    memory = FlatMemory(BASE, SIZE)
    memory.write(BASE, bytes(range(SIZE)))
    return memory


def test_memory_is_zero_at_first():
    assert FlatMemory(BASE, SIZE).read(BASE, SIZE) == bytes(SIZE)


def test_what_is_written_is_read():
    memory = FlatMemory(BASE, SIZE)
    memory.write(BASE + 3, b"abc")
    assert memory.read(BASE + 2, 5) == b"\0abc\0"


@pytest.mark.parametrize(
    ("address", "size"), [(BASE - 1, 2), (BASE + SIZE, 1), (BASE, SIZE + 1), (0, 1)]
)
def test_bytes_outside_of_memory_are_refused(address, size):
    memory = counting_memory()
    with pytest.raises(
        ValueError, match=rf"{size} bytes at {address:#x} are not within 0x80000000"
    ):
        memory.read(address, size)
    with pytest.raises(ValueError, match="are not within"):
        memory.write(address, b"x" * size)
    assert memory.read(BASE, SIZE) == bytes(range(SIZE))


@given(
    address=st.integers(BASE - 8, BASE + SIZE + 8),
    stride=st.one_of(
        st.integers(0, 70),
        st.integers(WORD - 70, WORD - 1),
        st.sampled_from([WORD // 2, WORD // 4]),
    ),
    rows=st.integers(1, 6),
    cols=st.integers(1, 9),
    kind=st.sampled_from(["<i4", "<i2", "<u1"]),
)
def test_rows_are_at_their_addresses(address, stride, rows, cols, kind):
    size = cols * np.dtype(kind).itemsize
    starts = [(address + row * stride) % WORD for row in range(rows)]
    outside = [start for start in starts if not BASE <= start <= BASE + SIZE - size]
    memory = counting_memory()
    if outside:
        with pytest.raises(OutsideMemoryError) as caught:
            memory.rows(address, stride, (rows, cols), kind)
        assert caught.value.address == outside[0]
    else:
        got = memory.rows(address, stride, (rows, cols), kind)
        for row, start in zip(got, starts, strict=True):
            assert row.tobytes() == memory.read(start, size)


@pytest.mark.parametrize("stride", [16, WORD - 16])
@pytest.mark.parametrize("rows", [1, 2, 5])
def test_rows_reach_to_both_ends_of_memory_and_not_a_byte_further(stride, rows):
    """The address of the first row, and which row is the first one outside."""
    memory, shape = counting_memory(), (rows, 3)
    up, way = stride == 16, 16 * (rows - 1)
    lowest, highest = (BASE, BASE + SIZE - 12 - way) if up else (BASE + way, BASE + SIZE - 12)
    for address in (lowest, highest):
        got = memory.rows(address, stride, shape, "<i4")
        last = (address + (rows - 1) * stride) % WORD
        assert got[-1].tobytes() == memory.read(last, 12)
    for address, outside in (
        (lowest - 1, 0 if up else rows - 1),
        (highest + 1, rows - 1 if up else 0),
    ):
        with pytest.raises(OutsideMemoryError) as caught:
            memory.rows(address, stride, shape, "<i4")
        assert caught.value.address == (address + outside * stride) % WORD


def test_rows_are_a_view():
    memory = counting_memory()
    memory.rows(BASE + 1, 16, (2, 1), "<i4")[...] = -1
    assert memory.read(BASE, 6) == b"\0\xff\xff\xff\xff\x05"
    assert memory.read(BASE + 16, 6) == b"\x10\xff\xff\xff\xff\x15"
