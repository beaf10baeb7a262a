"""Walks through nodes, and those that are left out."""

from celosia.sw.rewriting.walk import Walk


def test_a_walk_knows_where_it_is():
    walk = Walk("abc", str.upper)
    assert walk.place == ""
    assert [(each, walk.place) for each in walk] == [("a", "A"), ("b", "B"), ("c", "C")]
    assert walk.place == ""
    assert list(walk) == ["a", "b", "c"]


def test_a_walk_begins_behind_what_was_left():
    walk = Walk("abcd", str.upper)
    iterator = iter(walk)
    assert [next(iterator), next(iterator)] == ["a", "b"]
    assert walk.leave()
    assert walk.place == ""
    assert list(walk) == ["c", "d"]


def test_outside_of_a_walk_nothing_is_left():
    walk = Walk("ab", str.upper)
    assert not walk.leave()
    assert list(walk) == ["a", "b"]
    assert not walk.leave()
