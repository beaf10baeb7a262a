"""Where rings stand after a primitive of memories, row by row, and what is refused."""

import pytest

from celosia.isa.presets import resolve_config
from celosia.sw.compiler.starts import plain_plan
from celosia.sw.ir.matmul import MatMul
from celosia.sw.models.cases import attention_case
from celosia.sw.planning.forms.stages import AttentionStage, HeadGroup, LinearStage
from celosia.sw.planning.problems import graph_of
from celosia.sw.planning.rules.verify import PlanError
from celosia.sw.planning.schedules.placing import double_buffer, keep, place
from celosia.sw.planning.schedules.primitives import DoubleBuffer, Keep, Place

BASE = resolve_config("base")
PRODUCT = graph_of("product", MatMul(m=64, n=128, k=64, scale=0.01))
HEADS = attention_case(2, 64, 32, 1).graph
PLAIN, ATTENTION = plain_plan(PRODUCT, BASE), plain_plan(HEADS, BASE)
OP = ATTENTION.stages[0].ops[0]


def buffered(what, pieces=2):
    step = DoubleBuffer(op="product", what=what, pieces=pieces)
    return double_buffer(PLAIN, step, PRODUCT, BASE)


def turns(plan, pieces):
    step = DoubleBuffer(op=OP, what="turns", pieces=pieces)
    return double_buffer(plan, step, HEADS, BASE)


def group_of(plan) -> HeadGroup:
    """The only group of attention."""
    (stage,) = plan.stages
    assert isinstance(stage, AttentionStage)
    (group,) = stage.groups
    return group


def test_pieces_have_equal_rows_of_what_a_ring_had():
    ((first, rows),) = PLAIN.rings["a"].spans
    for pieces in (1, 3, rows):
        ring = buffered("a", pieces).rings["a"]
        share = rows // pieces
        assert ring.spans == tuple((first + turn * share, share) for turn in range(pieces))
    for pieces in (-1, rows + 1):
        with pytest.raises(PlanError, match=f"{pieces} pieces in {rows} rows"):
            buffered("a", pieces)
    with pytest.raises(PlanError, match="buffer-turns: stage product: numerators have turns"):
        buffered("numerators")


def test_turns_of_attention_share_the_rows_of_one():
    one = turns(ATTENTION, 1)
    for role in ("queries", "numerators"):
        (name,) = getattr(group_of(one), role)
        ((first, rows),) = one.rings[name].spans
        two = turns(one, 2)
        names = getattr(group_of(two), role)
        spans = [two.rings[each].spans for each in names]
        assert spans == [((first, rows // 2),), ((first + rows // 2, rows - rows // 2),)]
        whole = one.rings[name].step > 1
        assert [two.rings[each].step for each in names] == [rows // 2 if whole else 1] * 2
        again = turns(two, 2)
        assert [again.rings[n].spans for n in getattr(group_of(again), role)] == spans
        back = turns(two, 1)
        (name,) = getattr(group_of(back), role)
        assert back.rings[name].spans == ((first, rows // 2),)
    for count in (0, 3):
        with pytest.raises(PlanError, match=f"{count} turns are not 1 or 2"):
            turns(ATTENTION, count)


@pytest.mark.parametrize(
    ("banks", "spans"), [((3,), ((12288, 4096),)), ((0, 2), ((0, 4096), (8192, 4096)))]
)
def test_a_ring_in_whole_banks(banks, spans):
    # 256 KiB of 16 bytes: 16,384 rows in 4 banks.
    step = Place(op="product", what="b", banks=banks)
    assert place(PLAIN, step, PRODUCT, BASE).rings["b"].spans == spans


@pytest.mark.parametrize("banks", [(), (4,), (1, 1), (0, 4)])
def test_banks_that_are_not_there(banks):
    step = Place(op="product", what="b", banks=banks)
    with pytest.raises(PlanError, match=r"place-banks: ring b: .* are not some of 4"):
        place(PLAIN, step, PRODUCT, BASE)


@pytest.mark.parametrize("on_chip", [True, False])
def test_operands_of_a_product_stay_or_not(on_chip):
    for what in ("a", "b"):
        plan = keep(PLAIN, Keep(op="product", what=what, on_chip=not on_chip), PRODUCT, BASE)
        plan = keep(plan, Keep(op="product", what=what, on_chip=on_chip), PRODUCT, BASE)
        (stage,) = plan.stages
        assert isinstance(stage, LinearStage)
        kept = {"a": stage.a.keep, "b": stage.w.keep}
        assert kept[what] is on_chip
        (before,) = PLAIN.stages
        assert isinstance(before, LinearStage)
        other = "b" if what == "a" else "a"
        assert kept[other] is {"a": before.a.keep, "b": before.w.keep}[other]
    with pytest.raises(PlanError, match="keep-kind: stage product: linear stages do not say"):
        keep(PLAIN, Keep(op="product", what="keys"), PRODUCT, BASE)


def test_keys_and_values_that_stay_have_rings_of_their_own():
    quarter = BASE.scratchpad_rows // 4
    plan = keep(ATTENTION, Keep(op=OP, what="keys"), HEADS, BASE)
    plan = keep(plan, Keep(op=OP, what="values"), HEADS, BASE)
    assert (group_of(plan).k.ring, group_of(plan).v.ring) == ("keys", "values")
    assert plan.rings["keys"].spans == ((0, quarter),)
    assert plan.rings["values"].spans == ((3 * quarter, quarter // 2),)
    assert "weights" not in plan.rings
    plan = keep(plan, Keep(op=OP, what="values", on_chip=False), HEADS, BASE)
    assert group_of(plan).v.ring == "weights"
    assert plan.rings["weights"].spans == ((0, quarter // 2), (3 * quarter, quarter // 2))
    assert "values" not in plan.rings
    with pytest.raises(PlanError, match="keep-kind: "):
        keep(ATTENTION, Keep(op=OP, what="a"), HEADS, BASE)
