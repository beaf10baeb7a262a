"""Contents of memories at power-on."""

import random

__all__ = ["garbage"]


def garbage(depth: int, bits: int, seed: int | None) -> list[int]:
    """`depth` seeded random words of `bits` bits; nothing (zeros) without a seed.

    Only Amaranth's simulator needs it: generated Verilog leaves memories uninitialized.
    """
    if seed is None:
        return []
    rng = random.Random(seed)
    return [rng.getrandbits(bits) for _ in range(depth)]
