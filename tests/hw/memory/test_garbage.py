"""Contents of memories at power-on."""

from celosia.hw.memory.garbage import garbage


def test_words_are_as_many_and_as_wide_as_asked_for_and_follow_the_seed():
    words = garbage(64, 5, seed=3)
    assert len(words) == 64
    assert max(words) < 1 << 5
    assert len(set(words)) > 8
    assert words == garbage(64, 5, seed=3) != garbage(64, 5, seed=4)


def test_without_a_seed_nothing_is_there():
    assert garbage(64, 5, None) == []
