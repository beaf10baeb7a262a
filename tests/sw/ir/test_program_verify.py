"""What is wrong with a program is found, and named."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import pytest

from celosia.isa.encoding import Function
from celosia.lab.fuzz.graphs.random_graph import random_case
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import Mask, View
from celosia.sw.ir.program import (
    Load,
    LoadParameters,
    LocalRows,
    Op,
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.ir.program_verify import verify
from celosia.sw.models.cases import Case, attention_case, layernorm_case, matmul_case, softmax_case
from tests.support.levels import CONFIGS
from tests.support.nests import apart

TINY = CONFIGS["tiny"]
Ops = list[Any]


def compiled(case: Case) -> CompiledGraph:
    return compile_graph(case.graph, TINY)


def check(program: CompiledGraph, ops: Iterable[Op]) -> None:
    verify(ops, TINY, program.graph)


def ops_of(program: CompiledGraph) -> Ops:
    return [written.op for written in apart(program.ops, TINY)]


MATMUL = compiled(matmul_case(9, 10, 11, seed=1))
LAYERNORM = compiled(layernorm_case(9, 10, seed=1))
SOFTMAX = compiled(softmax_case(9, 10, seed=1))
ATTENTION = compiled(attention_case(2, 9, 6, seed=1))


def relay() -> CompiledGraph:
    """A tensor that is stored and loaded again."""
    case = random_case(2, ops=4)
    return compiled(case)


@pytest.mark.parametrize("program", [MATMUL, LAYERNORM, SOFTMAX, ATTENTION])
def test_compiled_graphs_are_well_formed(program):
    check(program, ops_of(program))


CAUSAL = compiled(attention_case(2, 9, 4, seed=1, mask=Mask(causal=True)))
"""Scores are of one product each: heads are as wide as the array."""


@pytest.mark.parametrize("program", [ATTENTION, CAUSAL])
def test_no_product_that_begins_sums_can_be_left_out(program):
    """Every score that a mask lets through has to be there."""
    ops = ops_of(program)
    begun = [n for n, op in enumerate(ops) if isinstance(op, Products) and not op.accumulate]
    assert len(begun) > 4
    for index in begun:
        with pytest.raises(ValueError, match=r"."):
            check(program, [*ops[:index], *ops[index + 1 :]])


def first(ops: Ops, kind: type, number: int = 0, **fields: object) -> int:
    """Where the operation of this kind and with these fields is."""
    found = [
        index
        for index, op in enumerate(ops)
        if isinstance(op, kind) and all(getattr(op, k) == v for k, v in fields.items())
    ]
    return found[number]


def without(kind: type, number: int = 0, **fields: object) -> Callable[[Ops], None]:
    def change(ops: Ops) -> None:
        del ops[first(ops, kind, number, **fields)]

    return change


def changed(kind: type, number: int = 0, **values: object) -> Callable[[Ops], None]:
    def change(ops: Ops) -> None:
        index = first(ops, kind, number)
        ops[index] = replace(ops[index], **values)

    return change


def twice(kind: type, number: int = 0) -> Callable[[Ops], None]:
    def change(ops: Ops) -> None:
        index = first(ops, kind, number)
        ops.insert(index, ops[index])

    return change


def in_parameters(ops: Ops) -> None:
    index = first(ops, LoadParameters)
    ops[index] = replace(ops[index], to=LocalRows(Space.PARAMETERS, 127, 3, 1, 3))


def swapped_weights(ops: Ops) -> None:
    """Two products exchange their weights."""
    one, other = first(ops, Products), first(ops, Products, 1)
    ops[one], ops[other] = (
        replace(ops[one], w=ops[other].w),
        replace(ops[other], w=ops[one].w),
    )


def exchanged(ops: Ops) -> None:
    """A product and the one that goes on with its sums."""
    one = first(ops, Products, accumulate=False)
    other = first(ops, Products, accumulate=True)
    ops[one], ops[other] = ops[other], ops[one]


def overwritten(ops: Ops) -> None:
    """The last product's A is overwritten by other rows of the same tensor."""
    last = max(i for i, op in enumerate(ops) if isinstance(op, Products))
    a = next(
        op
        for op in reversed(ops[:last])
        if isinstance(op, Load) and op.to.row <= ops[last].a < op.to.end
    )
    ops.insert(last, replace(a, view=replace(a.view, col=0)))


@pytest.mark.parametrize(
    ("program", "change", "message"),
    [
        (MATMUL, without(Load), "hold nothing|are not of one operation"),
        (MATMUL, without(LoadParameters), "hold nothing"),
        (MATMUL, without(Products), "hold nothing|does not go on|nobody has used"),
        (MATMUL, without(Products, accumulate=True), "goes on with|nobody has used"),
        (MATMUL, without(Transform), "hold nothing"),
        (MATMUL, without(Store), "nobody has used"),
        (MATMUL, twice(Store), "is stored a second time"),
        (MATMUL, twice(Load), "overwrites what nobody has used"),
        (MATMUL, in_parameters, r"rows 127..129 are not in 0..127"),
        (MATMUL, changed(Products, a=4094), r"rows 4094..4102 are not in 0..4095"),
        (MATMUL, changed(Load, to=LocalRows(Space.SCRATCHPAD, 0, 9, 3, 8)), "blocks meet"),
        (SOFTMAX, changed(Transform, source=LocalRows(Space.ACCUMULATOR, 0, 9, 3, 8)), "blocks me"),
        (MATMUL, changed(Products, accumulate=True), "hold nothing"),
        (MATMUL, changed(Products, 1, accumulate=False), "overwrites what nobody has used"),
        (MATMUL, changed(Products, 1, last_cols=3), "does not go on with the sums in its rows"),
        (MATMUL, swapped_weights, "goes on with|nobody has used"),
        (MATMUL, exchanged, "hold nothing"),
        (MATMUL, overwritten, "goes on with"),
        (MATMUL, changed(Store, view=View("a", 0, 0, 9, 10)), "is given"),
        (MATMUL, changed(Load, after=1), "waits for 1 stores, but only 0 come before it"),
        (LAYERNORM, without(Transform, function=Function.MOMENTS), "nobody has started|complete"),
        (LAYERNORM, changed(Transform, settings={"start": 1}), "not complete"),
        (LAYERNORM, without(Transform, function=Function.LAYERNORM), "hold nothing|not been used"),
        (SOFTMAX, without(Transform, function=Function.MAXIMUM), "nobody has started"),
        (SOFTMAX, without(Transform, function=Function.SUM), "not complete"),
        (SOFTMAX, twice(Transform), "starts statistics before those in their place"),
        (SOFTMAX, changed(Transform, settings={"statistics": 250, "start": 1}), "do not exist"),
        (ATTENTION, without(Transform, function=Function.EXPONENT), "hold nothing"),
    ],
)
def test_what_is_wrong_is_named(program, change, message):
    ops = ops_of(program)
    change(ops)
    with pytest.raises(ValueError, match=message):
        check(program, ops)


def waiting(program: CompiledGraph) -> int:
    """The first load that waits for a store."""
    return next(
        index for index, op in enumerate(ops_of(program)) if isinstance(op, Load) and op.after
    )


def test_a_load_that_comes_before_its_store():
    program = relay()
    ops, load = ops_of(program), waiting(program)
    store = max(
        index
        for index, op in enumerate(ops[:load])
        if isinstance(op, Store) and op.view.meets(ops[load].view)
    )
    ops.insert(store, replace(ops.pop(load), after=0))
    with pytest.raises(ValueError, match="is loaded before it is stored"):
        check(program, ops)


def test_a_load_that_does_not_wait():
    program = relay()
    ops, load = ops_of(program), waiting(program)
    for after in range(ops[load].after):
        ops[load] = replace(ops[load], after=after)
        with pytest.raises(ValueError, match=f"waits for {after} stores, not for"):
            check(program, ops)


def test_results_that_meet_their_source():
    program = LAYERNORM
    ops = ops_of(program)
    index = first(ops, Transform, function=Function.LAYERNORM)
    ops[index] = replace(ops[index], targets=(ops[index].source, *ops[index].targets[1:]))
    with pytest.raises(ValueError, match="meets"):
        check(program, ops)


def test_blocks_that_meet():
    ops = ops_of(MATMUL)
    index = first(ops, Load)
    ops[index] = replace(ops[index], to=replace(ops[index].to, blocks=3, pitch=2))
    with pytest.raises(ValueError, match="blocks meet"):
        check(MATMUL, ops)


def test_a_tensor_of_which_a_part_is_not_stored():
    ops = ops_of(SOFTMAX)
    index = first(ops, Store)
    view = ops[index].view
    ops[index] = replace(ops[index], view=view.part(cols=view.cols - 1))
    with pytest.raises(ValueError, match="out: not all of it is stored"):
        check(SOFTMAX, ops)


@pytest.mark.parametrize("program", [SOFTMAX, LAYERNORM, ATTENTION])
def test_statistics_are_in_the_last_rows_that_there_are_or_nowhere(program):
    """Each operation has them so much further that the last of all is the last row, or behind."""
    ops = ops_of(program)
    using = [n for n, op in enumerate(ops) if isinstance(op, Transform) and op.uses_statistics]
    ends = [ops[n].settings.get("statistics", 0) + ops[n].source.rows for n in using]
    free = TINY.statistics_rows - max(ends)
    for more in (0, free, free + 1):
        moved = list(ops)
        for n in using:
            first = ops[n].settings.get("statistics", 0) + more
            moved[n] = replace(ops[n], settings={**ops[n].settings, "statistics": first})
        if more <= free:
            check(program, moved)
        else:
            with pytest.raises(ValueError, match=r"slots \d+\.\. of \d+ rows do not exist"):
                check(program, moved)


@pytest.mark.parametrize("other", ["source", "result"])
@pytest.mark.parametrize("before", [False, True])
def test_results_may_adjoin_what_they_may_not_meet(other, before):
    """A result has a row of the operation's source, or of its other result, or none."""
    ops = ops_of(LAYERNORM)
    index = first(ops, Transform, function=Function.LAYERNORM)
    result, kept = ops[index].targets
    near = ops[index].source if other == "source" else kept
    for step, meets in ((0, False), (1, True)):
        row = near.row - (result.end - result.row) + step if before else near.end - step
        ops[index] = replace(ops[index], targets=(replace(result, row=row), kept))
        with pytest.raises(ValueError, match=r".") as raised:
            check(LAYERNORM, ops)
        assert (" meets " in str(raised.value)) == meets
