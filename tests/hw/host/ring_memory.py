"""Rings in memory, for the tests of the parts that read them."""

import random

from celosia.isa.encoding import Command, pack_ring

__all__ = ["beats_of", "random_commands"]


def random_commands(rng: random.Random, count: int) -> list[Command]:
    """Commands of any funct and operands."""
    return [
        Command(rng.randrange(128), rng.getrandbits(64), rng.getrandbits(64)) for _ in range(count)
    ]


def beats_of(
    address: int, commands: list[Command], width: int, rng: random.Random
) -> tuple[list[int], list[range]]:
    """Beats of `width` bytes with `commands` at `address` in them, and the commands of each."""
    image = pack_ring(commands)
    lead = address % width
    tail = -(lead + len(image)) % width
    padded = rng.randbytes(lead) + image + rng.randbytes(tail)
    starts = range(0, len(padded), width)
    words = [int.from_bytes(padded[start : start + width], "little") for start in starts]
    owners = [
        range(max(0, start - lead) // 24, min(-(-(start + width - lead) // 24), len(commands)))
        for start in starts
    ]
    return words, owners
