"""Heads that have columns in common, directly or by others, are found, and columns of two roles."""

from celosia.sw.ir.graph import View
from celosia.sw.quantize.units.meetings import Columns, score_clusters
from celosia.sw.quantize.units.units import Attention, Head
from celosia.sw.quantize.units.values import Value


def columns(text):
    """Columns written as `a0:16`."""
    first, end = map(int, text[1:].split(":"))
    return Columns(text[0], first, end - first)


def attention(name, *texts):
    """An attention; each text is a list of pairs of queries and keys."""
    heads = []
    for row, pairs in enumerate(texts):
        spans = [[columns(each) for each in pair.split()] for pair in pairs]
        views = [[View(s.key, row * 4, s.col, 4, s.cols) for s in pair] for pair in spans]
        heads.append(
            tuple(Head(q, k, View("v", row * 4, 0, 4, 8), View(name, 0, 0, 4, 8)) for q, k in views)
        )
    return Attention(
        value=Value(name, heads=True),
        heads=tuple(heads),
        scale=1.0,
        keys=None,
        nodes=(name,),
    )


def groups(cluster):
    """The queries and keys of each group, as text."""
    return [
        tuple(
            " ".join(f"{each.key}{each.col}:{each.col + each.cols}" for each in side)
            for side in (group.queries, group.keys)
        )
        for group in cluster.groups
    ]


def test_heads_are_groups_of_one_attention():
    (found,) = score_clusters([attention("x", ["q0:8 k0:8", "q8:16 k8:16"])])
    assert groups(found) == [("q0:8", "k0:8"), ("q8:16", "k8:16")]
    assert not found.mixed


def test_queries_that_share_keys_are_one_group():
    (found,) = score_clusters([attention("x", ["q0:8 k0:8", "q8:16 k0:8"])])
    assert groups(found) == [("q0:8 q8:16", "k0:8")]
    assert not found.mixed


def test_attentions_that_share_keys_are_one_cluster_and_others_are_not():
    found = score_clusters([
        attention("x", ["q0:8 k0:8"]),
        attention("y", ["p0:8 l0:8"]),
        attention("z", ["r0:8 k0:8"]),
    ])
    assert [groups(each) for each in found] == [[("q0:8 r0:8", "k0:8")], [("p0:8", "l0:8")]]
    assert [each.mixed for each in found] == [False, False]


def test_columns_that_are_queries_and_keys_are_mixed():
    alike = attention("x", ["a0:8 a0:8"])
    crossed = attention("x", ["a0:8 b0:8", "b0:8 c0:8"])
    by_another = [attention("x", ["a0:8 b0:8"]), attention("y", ["b0:8 a0:8"])]
    for units in ([alike], [crossed], by_another):
        (found,) = score_clusters(units)
        assert found.mixed


def test_columns_that_overlap_are_mixed():
    (found,) = score_clusters([attention("x", ["q0:8 k0:8", "q8:16 k4:12"])])
    assert found.mixed
    assert len(found.groups) == 1


def test_texts_in_columns_of_their_own_are_mixed():
    below, beside = (
        attention("x", ["q0:8 k0:8"], [second]) for second in ("q0:8 k0:8", "q8:16 k8:16")
    )
    assert [found.mixed for unit in (below, beside) for found in score_clusters([unit])] == [
        False,
        True,
    ]
