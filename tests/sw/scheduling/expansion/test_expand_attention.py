"""Attention: the order of its parts, and what it keeps."""

from itertools import accumulate, groupby, pairwise

import pytest

from celosia.isa.encoding import Function
from celosia.sw.ir.program import Load, Products, Space, Store, Transform, Written
from celosia.sw.models.cases import attention_case
from celosia.sw.planning.choices import DEFAULT, Choices
from celosia.sw.planning.decisions.decide_graph import decide_graph
from tests.support.levels import CONFIGS, configured
from tests.support.nests import apart
from tests.sw.scheduling.expansions import expanded

BASE = CONFIGS["base"]


TWICE = Choices(scores_in_memory=False)
"""Scores of long rows are computed twice."""


def written(
    heads: int, rows: int, width: int, config=BASE, choices: Choices = DEFAULT, **how
) -> tuple[Written, ...]:
    case = attention_case(heads, rows, width, seed=1, **how)
    return expanded(case, config, decide_graph(case.graph, config, choices))


def transforms(ops: tuple[Written, ...]) -> list[Transform]:
    return [one.op for one in ops if isinstance(one.op, Transform)]


def test_scores_of_a_unit_come_before_the_context_of_the_one_before():
    ops = [one for one in apart(written(3, 64, 32), BASE) if isinstance(one.op, Products)]
    order = [one.operator for one in ops]
    runs = [name for name, before in zip(order, ["", *order], strict=False) if name != before]
    assert runs == [
        "scores.head0",
        "scores.head1",
        "context.head0",
        "scores.head2",
        "context.head1",
        "context.head2",
    ]


def test_numerators_are_never_loaded_nor_stored():
    ops = written(2, 40, 32)
    moved = {one.op.view.tensor for one in ops if isinstance(one.op, Load | Store)}
    assert moved == {"query", "key", "value", "context"}


def test_units_take_turns_with_numerators_and_slots():
    found = transforms(written(4, 64, 32))
    exponents = [op for op in found if op.function is Function.EXPONENT and op.settings["start"]]
    rows = [op.targets[0].row for op in exponents]
    slots = [op.settings["statistics"] for op in exponents]
    assert rows == [rows[0], rows[1]] * 2
    assert rows[0] != rows[1]
    assert slots == [0, BASE.statistics_rows // 2] * 2


def test_keys_and_values_of_a_head_are_loaded_once():
    loads = [one.op for one in written(1, 200, 32) if isinstance(one.op, Load)]
    for name in ("key", "value"):
        assert sum(op.view.rows * op.view.cols for op in loads if op.view.tensor == name) == (
            200 * 32
        )


def test_scores_and_contexts_are_in_different_halves_but_the_first_scores():
    half = BASE.accumulator_rows // 2
    products = [
        (one.operator, one.op.c, one.op.rows)
        for one in apart(written(2, 100, 64), BASE)
        if isinstance(one.op, Products)
    ]
    first = next(i for i, (_, c, _) in enumerate(products) if c >= half)
    assert all(name == "scores.head0" for name, *_ in products[:first])
    for name, c, rows in products[first:]:
        assert (c >= half) == (c + rows > half) == name.startswith("scores")


def test_short_parts_have_several_scores_ahead_of_a_context():
    operators = (one.operator for one in written(6, 11, 32) if isinstance(one.op, Products))
    names = [name.partition(".")[0] for name, _ in groupby(operators)]
    assert names == ["scores"] * 4 + ["context", "scores"] * 2 + ["context"] * 4


def test_keys_block_by_block_have_one_maximum_and_one_sum():
    config = configured("tiny", accumulator_kib=1)
    keys = 140
    ops = transforms(written(1, keys, 4, config, TWICE))
    first = ops[: next(i for i, op in enumerate(ops) if op.function is Function.CONTEXT)]
    # The next block of rows, of other statistics, begins before the context of this one.
    maxima = [
        op for op in first if op.function is Function.MAXIMUM and op.settings["statistics"] == 0
    ]
    exponents = [op for op in first if op.function is Function.EXPONENT]
    for passes in (maxima, exponents):
        assert [op.settings["start"] for op in passes] == [1] + [0] * (len(passes) - 1)
        assert sum(op.cols for op in passes) == keys
        first_keys = [op.mask and op.mask["first_key"] for op in passes]
        assert first_keys == [0, *accumulate(op.cols for op in passes[:-1])]
    assert [op.settings["finish"] for op in exponents] == [0] * (len(exponents) - 1) + [1]
    half = config.accumulator_rows // 2
    assert all(op.source.space is Space.ACCUMULATOR and op.source.row >= half for op in maxima)


@pytest.mark.parametrize("choices", [DEFAULT, TWICE])
@pytest.mark.parametrize("kib", [1, 2])
def test_parts_of_dithered_keys_begin_at_multiples_of_16(choices, kib):
    config = configured("tiny", accumulator_kib=kib)
    ops = transforms(written(1, 140, 4, config, choices, dithered=True))
    assert not [op for op in ops if op.function is Function.EXPONENT]
    found = [op for op in ops if op.function is Function.DITHERED_EXPONENT]
    firsts, at = set[int](), 0
    for op in found:
        at = 0 if op.settings["start"] else at
        firsts.add(at)
        at += op.cols
    assert len(firsts) > 2
    assert not [first for first in firsts if first % 16]


def test_a_context_adds_up_all_blocks_of_keys():
    config = configured("tiny", accumulator_kib=1)
    rows, case = 70, attention_case(1, 70, 4, seed=1)
    products = [
        one.op
        for one in apart(expanded(case, config, decide_graph(case.graph, config)), config)
        if isinstance(one.op, Products) and one.operator == "context.head0"
    ]
    first = [op for op in products if not op.accumulate]
    assert sum(op.rows * op.last_cols for op in first) == rows * 4
    assert sum(op.rows * op.last_cols * op.last_depth for op in products) == rows * 4 * rows
    assert any(op.c == first[0].c and op.accumulate for op in products)


def test_blocks_of_keys_take_turns_and_their_context_comes_behind_the_next_scores():
    half = BASE.accumulator_rows // 2
    products = [
        (one.operator.partition(".")[0], one.op.c // (half // 2))
        for one in apart(written(1, 1024, 64, choices=TWICE), BASE)
        if isinstance(one.op, Products)
    ]
    runs = [run for run, _ in groupby(products)]
    scores = [place for name, place in runs if name == "scores"]
    # First for the maximum, then for the numerators, each in the part that the one before left.
    assert len(scores) == 2 * 16 * 1024 // 64
    assert scores == [2, 3] * (len(scores) // 2)
    assert [name for name, _ in runs][:20] == ["scores"] * 18 + ["context", "scores"]


def test_long_rows_are_multiplied_once_and_the_next_scores_come_between_contexts():
    config = configured("tiny", accumulator_kib=1)
    rows = 70
    ops = written(1, rows, 4, config)
    products = [
        (one.operator.partition(".")[0], one.op)
        for one in apart(ops, config)
        if isinstance(one.op, Products)
    ]
    assert sum(op.rows * op.last_cols * op.last_depth for _, op in products) == 2 * rows * rows * 4
    order = [name for name, _ in products]
    runs = [name for name, _ in groupby(order)]
    first = runs.index("context")
    assert runs[first : first + 8] == ["context", "scores"] * 4


def test_scores_that_wait_leave_and_come_back_once_and_only_their_maximum_is_scaled():
    config = configured("tiny", accumulator_kib=1)
    rows = 70
    ops = written(1, rows, 4, config)
    moved = [one.op for one in ops if isinstance(one.op, Load | Store)]
    for kind in (Store, Load):
        views = [op.view for op in moved if isinstance(op, kind)]
        assert sum(v.rows * v.cols for v in views if v.tensor.endswith(".spill")) == rows * rows
    for op in transforms(ops):
        if op.function is Function.EXPONENT:
            assert op.source.space is Space.SCRATCHPAD
            assert op.source.blocks == -(-2 * op.cols // config.dim)


def test_scores_stand_in_the_other_half_than_contexts_that_are_under_way_else_by_turns():
    config = configured("tiny", accumulator_kib=1)
    half = config.accumulator_rows // 2
    ops = transforms(written(1, 70, 4, config))
    order = [op.function for op in ops]
    before = order[: order.index(Function.EXPONENT)].count(Function.MAXIMUM)
    maxima = [op.source for op in ops if op.function is Function.MAXIMUM]
    contexts = [op.source for op in ops if op.function is Function.CONTEXT]
    mine = contexts[0].row // half
    # No scores come between the last two blocks.
    *others, last = [rows.row // half for rows in contexts]
    assert (set(others), last) == ({mine}, 1 - mine)
    assert {rows.row // half for rows in maxima[before:]} == {1 - mine}
    turns = [rows.row // half for rows in maxima[:before]]
    assert before > 2
    assert {one + other for one, other in pairwise(turns)} == {1}
    assert not any(one.row < two.end and two.row < one.end for one in maxima for two in contexts)


def test_a_head_whose_context_does_not_fit_is_refused():
    config = configured("tiny", accumulator_kib=1)
    written(1, 3, 128, config)
    with pytest.raises(ValueError, match=r"^contexts-fit: .*: 1 x 33 rows .* span of 32 of"):
        written(1, 3, 129, config)


def test_statistics_begin_behind_all_contexts_that_need_those_in_their_place():
    """The sums of the third block (6, 6 and 4 rows) end before the last columns of the first."""
    ops = transforms(written(1, 16, 17, CONFIGS["least"]))
    kinds = [
        (op.function.name, op.source.rows)
        for op in ops
        if op.function is not Function.EXPONENT and op.settings["statistics"] == 0
    ]
    assert kinds == (
        [("MAXIMUM", 6)] + [("CONTEXT", 6)] * 5 + [("MAXIMUM", 4)] + [("CONTEXT", 4)] * 5
    )
