"""Named arrays in the memory of a device.

The rules that an array in device memory keeps, and that this module checks:

* dense and row-major, without padding between rows or behind the last one;
* elements are int8, uint8 or int32, little-endian;
* completely inside the device's memory, and apart from every other array;
* aligned: by default to 64 bytes, the longest burst; never less than its elements.

Address 0 is not memory: a load from there reads zeros.
"""

from dataclasses import dataclass
from math import prod
from typing import Final

import numpy as np

from celosia.isa.memory import ALIGNMENT, MEMORY_BASE
from celosia.sw.driver.device import Device

__all__ = ["ELEMENT_TYPES", "POISON", "Buffer", "BufferRuleError", "Buffers"]


POISON: Final = 0xA5
"""What every byte of an output holds before the run."""

ELEMENT_TYPES: Final = tuple(np.dtype(name) for name in ("int8", "uint8", "int32"))


class BufferRuleError(ValueError):
    """An array breaks a rule of device memory; the message names array, value and rule."""


@dataclass(frozen=True)
class Buffer:
    """An array in device memory."""

    name: str
    address: int
    shape: tuple[int, ...]
    dtype: np.dtype

    @property
    def size(self) -> int:
        """Bytes of the array."""
        return prod(self.shape) * self.dtype.itemsize

    @property
    def end(self) -> int:
        """The first address behind the array."""
        return self.address + self.size

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"{self.name}: {self.dtype} {shape} at {self.address:#x}..{self.end - 1:#x}"


class Buffers:
    """The arrays of one device, placed one behind the other or where they are told to be."""

    def __init__(self, device: Device):
        self.device = device
        self._placed: dict[str, Buffer] = {}

    def __getitem__(self, name: str) -> Buffer:
        """The array called `name`.  Raises `BufferRuleError`."""
        if name not in self._placed:
            known = ", ".join(self._placed) or "none"
            raise BufferRuleError(f"there is no array {name!r}; there are: {known}")
        return self._placed[name]

    def allocate(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: np.typing.DTypeLike,
        *,
        align: int = ALIGNMENT,
    ) -> Buffer:
        """An array behind all others.  Raises `BufferRuleError` when it does not fit."""
        if align < 1 or align & (align - 1):
            raise BufferRuleError(f"{name}: alignment {align} is not a power of two")
        return self.place(name, self.next_address(align), shape, dtype)

    def next_address(self, align: int = ALIGNMENT) -> int:
        """The first aligned address behind all arrays."""
        end = max((buffer.end for buffer in self._placed.values()), default=MEMORY_BASE)
        return -(-end // align) * align

    def place(
        self, name: str, address: int, shape: tuple[int, ...], dtype: np.typing.DTypeLike
    ) -> Buffer:
        """An array at `address`.  Raises `BufferRuleError` when it may not stand there."""
        buffer = Buffer(name, address, tuple(shape), np.dtype(dtype))
        self._check(buffer)
        self._placed[name] = buffer
        return buffer

    def upload(self, buffer: Buffer, array: np.ndarray) -> None:
        """Copy `array` into device memory.

        Raises `BufferRuleError` unless its shape and type are those of `buffer`.
        """
        self._own(buffer)
        if array.shape != buffer.shape or array.dtype != buffer.dtype:
            raise BufferRuleError(
                f"{buffer.name}: an array of {array.dtype} {array.shape} is not "
                f"{buffer.dtype} {buffer.shape}"
            )
        little_endian = array.astype(array.dtype.newbyteorder("<"), copy=False)
        self.device.write(buffer.address, little_endian.tobytes())

    def load(self, name: str, array: np.ndarray, *, align: int = ALIGNMENT) -> Buffer:
        """Allocate an array like `array` and copy it there."""
        buffer = self.allocate(name, array.shape, array.dtype, align=align)
        self.upload(buffer, array)
        return buffer

    def poison(self, buffer: Buffer) -> None:
        """Fill `buffer` with `POISON`, so that elements that are never written show."""
        self._own(buffer)
        self.device.write(buffer.address, bytes([POISON]) * buffer.size)

    def download(self, buffer: Buffer) -> np.ndarray:
        """The array's elements as they stand in device memory."""
        self._own(buffer)
        data = self.device.read(buffer.address, buffer.size)
        elements = np.frombuffer(data, buffer.dtype.newbyteorder("<"))
        return elements.astype(buffer.dtype).reshape(buffer.shape)

    def _own(self, buffer: Buffer) -> None:
        if self._placed.get(buffer.name) != buffer:
            raise BufferRuleError(f"{buffer.name}: not an array of this device")

    def _check(self, buffer: Buffer) -> None:
        memory_end = MEMORY_BASE + self.device.memory_bytes
        if buffer.dtype not in ELEMENT_TYPES:
            known = ", ".join(map(str, ELEMENT_TYPES))
            raise BufferRuleError(f"{buffer.name}: elements are {buffer.dtype}, not {known}")
        if not buffer.shape or min(buffer.shape) < 1:
            raise BufferRuleError(f"{buffer.name}: shape {buffer.shape} has no elements")
        if buffer.address % buffer.dtype.itemsize:
            raise BufferRuleError(
                f"{buffer.name}: address {buffer.address:#x} is not a multiple of "
                f"{buffer.dtype.itemsize}, the size of its elements"
            )
        if buffer.address < MEMORY_BASE or buffer.end > memory_end:
            raise BufferRuleError(
                f"{buffer}: not inside the device's memory, {MEMORY_BASE:#x}..{memory_end - 1:#x} "
                f"({self.device.memory_bytes} bytes)"
            )
        if buffer.name in self._placed:
            raise BufferRuleError(f"{buffer.name}: there is an array of this name already")
        for other in self._placed.values():
            if buffer.address < other.end and other.address < buffer.end:
                raise BufferRuleError(f"{buffer}: overlaps {other}")
