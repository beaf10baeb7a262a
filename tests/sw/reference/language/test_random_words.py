"""The words of sfc32."""

import numpy as np
import pytest

from celosia.sw.reference.language.random_words import RandomWords


def words(seed: int):
    """sfc32 by NumPy's 32-bit words, which wrap by themselves."""
    state = [np.uint32(x) for x in (0, seed & 0xFFFF_FFFF, seed >> 32, 1)]
    while True:
        with np.errstate(over="ignore"):
            a, b, c, counter = state
            word = a + b + counter
            turned = np.bitwise_or(c << np.uint32(21), c >> np.uint32(11))
            state = [
                b ^ (b >> np.uint32(9)),
                c * np.uint32(9),
                turned + word,
                counter + np.uint32(1),
            ]
        yield int(word)


def test_the_first_word_is_that_of_other_programs():
    """The documentation of the crate sfc-prng 0.3: `Sfc32::new_u64(0, None).next_u32()`."""
    random = RandomWords(0)
    assert random.below(1 << 53) >> 32 == 0x514676C3 & 0x1FFFFF


@pytest.mark.parametrize("seed", [0, 1, 12345678901, (1 << 64) - 1])
def test_two_words_make_a_number(seed):
    random, expected = RandomWords(seed), words(seed)
    for _ in range(12):
        next(expected)
    for limit in (1 << 53, 1 << 40, 1 << 33, 1 << 32, 1 << 31, 2, 1):
        number = next(expected) << 32 | next(expected)
        assert random.below(limit) == number % limit


@pytest.mark.parametrize("limit", [3, 5, (1 << 32) + 1, 3 << 40])
def test_numbers_at_and_above_the_limit_are_thrown_away(limit):
    random, expected = RandomWords(7), words(7)
    for _ in range(12):
        next(expected)
    above = 0
    for _ in range(50):
        drawn = random.below(limit)
        while (
            number := (next(expected) << 32 | next(expected)) % (1 << (limit - 1).bit_length())
        ) >= limit:
            above += 1
        assert drawn == number
    assert above


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_a_seed_out_of_range_is_refused(seed):
    with pytest.raises(ValueError, match=rf"seed: {seed} is not in 0\.\.2\^64-1"):
        RandomWords(seed)
