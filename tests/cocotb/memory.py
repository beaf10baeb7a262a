"""The memory behind cocotbext-axi's slave."""

from celosia.isa.memory import MEMORY_BASE

__all__ = ["Memory"]


class Memory:
    """Bytes from `MEMORY_BASE` on; what is outside of it, or chosen to, fails."""

    def __init__(self, size: int):
        self.data = bytearray(size)
        self.bad_reads: set[int] = set()
        self.bad_writes: set[int] = set()
        """Addresses of bytes: whatever touches one of them fails."""

    def load(self, address: int, data: bytes) -> None:
        """Put `data` there."""
        place = self._place(address, len(data), set())
        self.data[place : place + len(data)] = data

    def dump(self, address: int, size: int) -> bytes:
        """What is there."""
        place = self._place(address, size, set())
        return bytes(self.data[place : place + size])

    async def read(self, address: int, size: int) -> bytes:
        """For the slave: an exception becomes SLVERR."""
        place = self._place(address, size, self.bad_reads)
        return bytes(self.data[place : place + size])

    async def write(self, address: int, data: bytes) -> None:
        """For the slave: an exception becomes SLVERR."""
        place = self._place(address, len(data), self.bad_writes)
        self.data[place : place + len(data)] = data

    def _place(self, address: int, size: int, bad: set[int]) -> int:
        place = address - MEMORY_BASE
        if place < 0 or place + size > len(self.data) or bad & set(range(address, address + size)):
            raise ValueError(f"memory: {size} bytes at {address:#x}")
        return place
