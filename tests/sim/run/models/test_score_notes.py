"""Notes say how many rows see no key, where, and what they are."""

from collections import Counter

from celosia.sim.run.models.score_notes import blind_notes, clipped_notes
from celosia.sw.quantize.graphs.masks import Sight


def test_rows_are_counted_by_what_becomes_of_them():
    rows = Counter({
        ("first", Sight.NONE): 1200,
        ("second", Sight.NONE): 34,
        ("first", Sight.HIDDEN): 5,
    })
    assert list(blind_notes(rows)) == [
        "first and 1 more: 1,234 rows of scores see no key: attention is 0 there (a file without a "
        "guard computes NaN)",
        "first: 5 rows of scores only see keys that a large negative number hides: attention is "
        "their mean there",
    ]


def test_no_such_rows_are_not_mentioned():
    assert not list(blind_notes(Counter()))


def test_scores_that_saturate_are_counted_by_node():
    one, more = clipped_notes({"p": 1, "q": 1200})
    assert one.startswith("p: 1 score has another weight")
    assert more.startswith("q: 1,200 scores have another weight")
