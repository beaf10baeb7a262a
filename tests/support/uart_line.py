"""The other end of a serial line, in Amaranth's simulator."""

from collections.abc import Sequence

__all__ = ["line_levels", "put_bytes"]


def line_levels(byte: int, stop: int = 1) -> list[int]:
    """The levels of a byte on the line, bit by bit."""
    return [0, *(byte >> bit & 1 for bit in range(8)), stop]


async def put_bytes(ctx, rx, data: Sequence[int], divisor: int) -> None:
    """Put bytes on `rx`, one behind the other, and leave it high."""
    for byte in data:
        for level in line_levels(byte):
            ctx.set(rx, level)
            await ctx.tick().repeat(divisor)
