"""Local addresses are Gemmini's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.address import GARBAGE, LocalAddress

ADDRESSES = st.builds(
    LocalAddress,
    row=st.integers(0, (1 << 26) - 1),
    accumulator=st.booleans(),
    accumulate=st.booleans(),
    full=st.booleans(),
    norm=st.integers(0, 7),
)


@given(address=ADDRESSES)
def test_decoding_inverts_encoding(address):
    word = address.encode()
    assert 0 <= word < 1 << 32
    assert LocalAddress.decode(word) == address


@given(word=st.integers(0, (1 << 32) - 1))
def test_every_bit_of_a_word_is_part_of_the_address(word):
    assert LocalAddress.decode(word).encode() == word


@pytest.mark.parametrize(
    ("address", "word"),
    [
        (LocalAddress(row=5), 0x0000_0005),
        (LocalAddress(row=0, accumulator=True), 0x8000_0000),
        (LocalAddress(row=0, accumulate=True), 0x4000_0000),
        (LocalAddress(row=0, full=True), 0x2000_0000),
        (LocalAddress(row=0, norm=7), 0x1C00_0000),
        (LocalAddress(row=(1 << 26) - 1), 0x03FF_FFFF),
    ],
)
def test_words_by_hand(address, word):
    assert address.encode() == word


@given(address=ADDRESSES)
def test_garbage_is_all_ones_but_for_the_normalization_bits(address):
    word = address.encode()
    assert LocalAddress.is_garbage(word) == (word | 7 << 26 == GARBAGE)


@pytest.mark.parametrize("norm", range(8))
def test_the_normalization_bits_of_garbage_are_ignored(norm):
    assert LocalAddress.is_garbage(GARBAGE & ~(7 << 26) | norm << 26)


@pytest.mark.parametrize("bit", [0, 12, 25, 29, 30, 31])
def test_any_other_clear_bit_is_not_garbage(bit):
    assert not LocalAddress.is_garbage(GARBAGE ^ 1 << bit)


@pytest.mark.parametrize("row", [-1, 1 << 26])
def test_a_row_that_does_not_fit_is_refused(row):
    with pytest.raises(ValueError, match=rf"row: {row} is not in 0\.\.67108863"):
        LocalAddress(row=row)


@pytest.mark.parametrize("norm", [-1, 8])
def test_a_normalization_command_that_does_not_fit_is_refused(norm):
    with pytest.raises(ValueError, match=rf"norm: {norm} is not in 0\.\.7"):
        LocalAddress(row=0, norm=norm)
