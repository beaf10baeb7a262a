"""Looking into local memories."""

import numpy as np

from celosia.hw.memory.garbage import garbage

__all__ = ["read_rows", "rows_of_garbage", "set_row"]


def rows_of_garbage(seed: int, banks: int, bank_rows: int, dim: int, dtype) -> np.ndarray:
    """What a banked memory holds at power-on, rows x dim."""
    size = np.dtype(dtype).itemsize * dim
    image = b"".join(
        word.to_bytes(size, "little")
        for bank in range(banks)
        for word in garbage(bank_rows, 8 * size, seed + bank)
    )
    return np.frombuffer(image, dtype).reshape(banks * bank_rows, dim)


async def read_rows(ctx, port, count: int) -> list[list[int]]:
    """Rows 0 to count - 1 through a `RowRead` port that nobody else uses, one in each cycle."""
    rows = []
    for row in range(count + 1):
        ctx.set(port.row, row % count)
        ctx.set(port.valid, row < count)
        assert ctx.get(port.ready) or row == count
        await ctx.tick()
        if row:  # That of the cycle before.
            rows.append(list(ctx.get(port.data)))
    return rows


def set_row(ctx, ports: list, values: list[int]) -> None:
    """Drive one value into each of `ports`."""
    for port, value in zip(ports, values, strict=True):
        ctx.set(port, value)
