"""The order of parts: each once or twice, and first passes between second ones where they spill."""

from itertools import pairwise

import pytest

from celosia.sw.ir.graph import Mask, MatMul
from celosia.sw.models.cases import attention_case
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from celosia.sw.planning.forms.stages import AttentionStage
from celosia.sw.scheduling.expansion.head_parts import Part, parts
from celosia.sw.scheduling.pieces import open_rings
from tests.support.levels import configured

CONFIG = configured("tiny", accumulator_kib=1)


def parts_of(rows: int, mask: Mask, choices: Choices = DEFAULT, heads: int = 1) -> list[Part]:
    graph = attention_case(heads, rows, 4, seed=1, mask=mask).graph
    plan = decide_graph(graph, CONFIG, choices)
    (stage,) = plan.stages
    assert isinstance(stage, AttentionStage)
    ops = {op.name: op for op in graph.ops if isinstance(op, MatMul)}
    slots = open_rings(plan)[stage.slots]
    return list(parts(stage, ops, slots, CONFIG.dim))


@pytest.mark.parametrize("mask", [Mask(), Mask(causal=True), Mask(causal=True, window=30)])
@pytest.mark.parametrize("choices", [DEFAULT, Choices(scores_in_memory=False)])
def test_each_key_of_each_block_has_both_passes_in_order(mask, choices):
    found = parts_of(70, mask, choices, heads=2)
    for block in {part.block for part in found}:
        for kind in ("maximum", "exponent"):
            mine = [part for part in found if part.block == block and getattr(part, kind)]
            assert [part.key for part in mine] == sorted(part.key for part in mine)
            assert sum(part.keys for part in mine) == block.keys[1] - block.keys[0]
        last = max(at for at, part in enumerate(found) if part.block == block and part.maximum)
        first = min(at for at, part in enumerate(found) if part.block == block and part.exponent)
        assert last <= first


def test_second_passes_take_turns_and_the_part_behind_one_has_the_other_rings():
    found = parts_of(70, Mask(causal=True))
    seconds = [part for part in found if part.exponent]
    assert [part.turn for part in seconds] == list(range(len(seconds)))
    for one, other in pairwise(found):
        if one.exponent:
            assert other.turn == one.turn + 1


def test_first_passes_are_spread_evenly_over_the_block_before():
    found = parts_of(70, Mask())
    count = len(list(found[0].block.cuts))
    assert [part.exponent for part in found[: 3 * count]] == [False] * count + [False, True] * count
    assert all(part.exponent for part in found[-count:])


@pytest.mark.parametrize("mask", [Mask(), Mask(causal=True)])
def test_sums_that_leave_are_in_the_other_half_than_those_that_are_added_to_next(mask):
    found = parts_of(70, mask, heads=2)
    array = [
        part
        for scores, contexts in zip([*found, None], [None, *found], strict=True)
        for part in (scores, contexts)
        if part is not None and (part.maximum if part is scores else part.exponent)
    ]
    assert len(array) == len(found)
    assert {part.half for part in array if part.maximum} == {0, 1}
    for one, other in pairwise(array):
        stays = one.exponent and not one.ends
        if not stays:
            assert one.half != other.half
    for block in {part.block for part in found}:
        assert len({part.half for part in found if part.block == block and part.exponent}) == 1


def test_sums_of_parts_that_do_not_spill_have_no_half_of_their_own():
    found = parts_of(70, Mask(), Choices(scores_in_memory=False))
    assert {part.half for part in found} == {None}


def test_rows_of_one_block_are_passed_twice():
    """There is no other block whose scores could leave meanwhile."""
    spilled = {}
    for rows in (16, 17):
        found = parts_of(rows, Mask(), Choices(whole_scores=False))
        assert len(found) > 2
        spilled[rows] = found[0].block.group.spill is not None
    assert spilled == {16: False, 17: True}
