"""What repeats in a list, and the names of what is shown once."""

import pytest

from celosia.sim.profile.alike import Block, blocks, kind_of_name, span_name


@pytest.mark.parametrize(
    ("kinds", "found"),
    [
        ("", []),
        ("a", [(0, 1, 1)]),
        ("aaa", [(0, 1, 3)]),
        # As much is covered by fewer elements, more times.
        ("aaaa", [(0, 1, 4)]),
        ("xabababab", [(0, 1, 1), (1, 2, 4)]),
        ("eaabaabaabf", [(0, 1, 1), (1, 3, 3), (10, 1, 1)]),
        ("ababcab", [(0, 2, 2), (4, 1, 1), (5, 1, 1), (6, 1, 1)]),
        ("aabaab", [(0, 3, 2)]),
        ("abcabcxx", [(0, 3, 2), (6, 1, 2)]),
        # Five elements stand there twice, and so do eight.
        ("abcababcabcababc", [(0, 8, 2)]),
    ],
)
def test_blocks_cover_as_much_as_they_can(kinds, found):
    assert list(blocks(kinds)) == [Block(*each) for each in found]


def test_names_of_a_kind_are_one_name():
    assert kind_of_name("/layer.10/fc2") == kind_of_name("/layer.9/fc2") != kind_of_name("/layer")
    assert span_name(["/layer.9/q", "/layer.10/q", "/layer.11/q"]) == "/layer.9-11/q x3"
    assert span_name(["node_5", "node_71"]) == "node_5..71 x2"
    assert span_name(["h.0.fc2", "h.1.fc2"]) == "h.0-1.fc2 x2"
    assert span_name(["h.0.fc2"]) == "h.0.fc2"
