"""Fields of stages by paths: what stands there, and what else may."""

import pytest

from celosia.sw.planning.forms.stages import (
    AttentionStage,
    Branch,
    CombineStage,
    ConcurrentStage,
    HeadGroup,
    LinearStage,
    NormPlan,
    NormStage,
    PiecesOfA,
    PiecesOfW,
    SumsDrain,
)
from celosia.sw.planning.schedules.roles import field_of, rings_of, with_field, with_rings

DRAIN = SumsDrain(tiles=2, results="bytes", parameters="columns")
LINEAR = LinearStage(
    op="l",
    rows=(4,),
    tiles=(1, 1),
    a=PiecesOfA(ring="left", tiles=3),
    w=PiecesOfW(ring="right", k_tiles=2, columns=1),
    sums="halves",
    drain=DRAIN,
)


def group(number: int) -> HeadGroup:
    return HeadGroup(
        heads=((f"s{number}", f"c{number}"),),
        rows=(4,),
        keys=(8 * number,),
        queries=("even", "odd"),
        k=PiecesOfW(ring=f"keys{number}", k_tiles=1, columns=1),
        v=PiecesOfW(ring="values", k_tiles=2, columns=1),
        scores="scores",
        exponents=1,
        numerators=("first", "second"),
        contexts="contexts",
        drain=DRAIN,
    )


HEADS = AttentionStage(groups=(group(1), group(2)), slots="slots")


def test_the_rings_of_each_kind_of_stage_by_their_roles():
    assert rings_of(LINEAR) == {
        "a": ("left",),
        "b": ("right",),
        "sums": ("halves",),
        "results": ("bytes",),
        "parameters": ("columns",),
    }
    assert rings_of(HEADS) == {
        "keys": ("keys1",),
        "values": ("values",),
        "queries": ("even", "odd"),
        "numerators": ("first", "second"),
        "scores": ("scores",),
        "contexts": ("contexts",),
        "results": ("bytes",),
        "slots": ("slots",),
    }
    norm = NormPlan(op="n", tiles=2, source="wide", results=("bytes",), affines="affines")
    assert rings_of(NormStage(rows=(4,), norm=norm, slots="s")) == {
        "source": ("wide",),
        "slots": ("s",),
    }
    combined = CombineStage(op="c", rows=(4,), tiles=1, a="one", b="other", results="bytes")
    assert rings_of(combined) == {"a": ("one",), "b": ("other",), "results": ("bytes",)}
    assert rings_of(ConcurrentStage(branches=(Branch(stages=(combined,), cycles=(1,)),))) == {}


@pytest.mark.parametrize(
    ("stage", "path", "found"),
    [
        (LINEAR, "w.k_tiles", 2),
        (LINEAR, "tiles", (1, 1)),
        (LINEAR, "norm", None),
        (LINEAR, "norm.source", None),
        (HEADS, "groups.keys", (8,)),
        (HEADS, "groups.v.k_tiles", 2),
        (HEADS, "slots", "slots"),
    ],
)
def test_what_stands_at_a_path(stage, path, found):
    assert field_of(stage, path) == found


def test_another_thing_at_a_path_in_every_group():
    changed = with_field(HEADS, "groups.keys", lambda keys: (*keys, 4))
    assert [each.keys for each in changed.groups] == [(8, 4), (16, 4)]
    assert [each.rows for each in changed.groups] == [(4,), (4,)]
    assert with_field(LINEAR, "a.tiles", lambda tiles: tiles + 4).a.tiles == 7
    assert [each.keys for each in HEADS.groups] == [(8,), (16,)]


def test_other_rings_in_a_role():
    changed = with_rings(HEADS, "queries", ("one",))
    assert isinstance(changed, AttentionStage)
    assert [each.queries for each in changed.groups] == [("one",), ("one",)]
    changed = with_rings(HEADS, "keys", ("one", "two"))
    assert isinstance(changed, AttentionStage)
    assert [each.k.ring for each in changed.groups] == ["one", "one"]
    assert [each.v.ring for each in changed.groups] == ["values", "values"]
