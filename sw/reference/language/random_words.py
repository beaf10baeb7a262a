"""The random numbers of sampled texts: 32-bit words that any language computes alike."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

__all__ = ["LEFT", "RIGHT", "ROTATED", "WARM_UP", "RandomWords"]

_BITS: Final = 32
_WORD: Final = (1 << _BITS) - 1
WARM_UP: Final = 12
"""Words that are dropped, so that each bit of the seed has reached each bit of the state."""
RIGHT, LEFT, ROTATED = 9, 3, 21
"""By how many bits a word is shifted down, another one up, and the third one turned."""


class RandomWords:
    """The words of sfc32, for one seed.

    A "small fast counter" of 128 bits by Chris Doty-Humphrey, with the seeding of 64 bits of his
    PractRand 0.94 (`RNG/other/sfc.cpp`): additions, shifts and exclusive ors of 32-bit words.
    Raises `ValueError` for a seed that is not in 0..2^64-1.
    """

    SEEDS: Final = 1 << 64
    """How many seeds there are."""

    def __init__(self, seed: int):
        if not 0 <= seed < self.SEEDS:
            raise ValueError(f"seed: {seed} is not in 0..2^64-1")
        self._words = islice(_sfc32(seed), WARM_UP, None)

    def below(self, limit: int) -> int:
        """A number from 0 to `limit` - 1, each as probable as the others.

        Two words make a number, the first its higher half, of as many bits as `limit` - 1 has at
        most; numbers that are not below `limit` are thrown away.  `limit` is 1..2^53, so that
        floats of 64 bits hold what is drawn.
        """
        mask = (1 << (limit - 1).bit_length()) - 1
        while True:
            high, low = next(self._words), next(self._words)
            if (drawn := (high << 32 | low) & mask) < limit:
                return drawn


def _sfc32(seed: int) -> Iterator[int]:
    a, b, c, counter = 0, seed & _WORD, seed >> 32, 1
    while True:
        word = (a + b + counter) & _WORD
        counter = (counter + 1) & _WORD
        a = b ^ (b >> RIGHT)
        b = (c + (c << LEFT)) & _WORD
        c = ((c << ROTATED | c >> _BITS - ROTATED) + word) & _WORD
        yield word
