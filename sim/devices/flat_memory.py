"""Device memory as one array of bytes, and strided views of it."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["FlatMemory", "OutsideMemoryError"]

_ADDRESSES = 1 << 64


class OutsideMemoryError(Exception):
    """Bytes that do not exist."""

    def __init__(self, address: int):
        super().__init__(f"address {address:#x} is outside of memory")
        self.address = address
        """First byte of the first row that leaves memory."""


class FlatMemory:
    """`size` bytes from address `base` on, all zero at first.

    Outside of it, `read` and `write` raise `ValueError`, and nothing is written.
    """

    def __init__(self, base: int, size: int):
        self.base = base
        self.size = size
        self._bytes = np.zeros(size, np.uint8)

    def read(self, address: int, size: int) -> bytes:
        """A copy of `size` bytes."""
        start = self._start(address, size)
        return self._bytes[start : start + size].tobytes()

    def write(self, address: int, data: bytes) -> None:
        """Copy `data` to `address`."""
        start = self._start(address, len(data))
        self._bytes[start : start + len(data)] = np.frombuffer(data, np.uint8)

    def rows(
        self, address: int, stride: int, shape: tuple[int, int], dtype: DTypeLike
    ) -> NDArray[Any]:
        """A view of elements in memory: row r starts at ``address + r*stride`` modulo 2^64.

        Raises `OutsideMemoryError` if a row leaves memory.
        """
        kind = np.dtype(dtype)
        # A step over most of the address space is a step back; two rows in memory are never
        # further apart than its size, so that the rows between them cannot wrap.
        step = stride - _ADDRESSES if stride >= _ADDRESSES // 2 else stride
        offset = (address - self.base) % _ADDRESSES
        row_bytes = shape[1] * kind.itemsize
        for start in (offset, offset + (shape[0] - 1) * step):
            if not 0 <= start <= self.size - row_bytes:
                raise OutsideMemoryError(self._first_outside(address, stride, row_bytes))
        return np.ndarray(shape, kind, self._bytes, offset, (step, kind.itemsize))

    def _first_outside(self, address: int, stride: int, row_bytes: int) -> int:
        """The first row that leaves memory.  There must be one."""
        while 0 <= (address - self.base) % _ADDRESSES <= self.size - row_bytes:
            address = (address + stride) % _ADDRESSES
        return address

    def _start(self, address: int, size: int) -> int:
        start = address - self.base
        if size < 0 or start < 0 or start + size > self.size:
            raise ValueError(
                f"memory: {size} bytes at {address:#x} are not within "
                f"{self.base:#x}..{self.base + self.size - 1:#x}"
            )
        return start
