"""Programs that overwrite scores which wait in memory too early are found."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from celosia.isa.encoding import Function
from celosia.sw.compiler.compiled import CompiledGraph
from celosia.sw.compiler.pipeline import Decide
from celosia.sw.compiler.verified import compile_graph
from celosia.sw.ir.graph import NO_MASK, Mask, Tensor, View
from celosia.sw.ir.program import (
    Drain,
    Load,
    LocalRows,
    Op,
    Products,
    Space,
    Store,
    Transform,
)
from celosia.sw.ir.program_verify import verify
from celosia.sw.models.cases import attention_case
from celosia.sw.planning.choices import Choices
from celosia.sw.scheduling.memory.check_scratch import check_scratch
from tests.support import nests
from tests.support.levels import configured

CONFIG = configured("tiny", accumulator_kib=1)


def compiled(choices: Choices, mask: Mask = NO_MASK) -> CompiledGraph:
    return compile_graph(attention_case(1, 90, 4, 1, mask=mask).graph, CONFIG, Decide(choices))


def check(program: CompiledGraph, ops: Iterable[Op]) -> None:
    graph = program.graph
    checked = [*ops]
    verify(checked, CONFIG, graph)
    check_scratch(checked, graph.tensors, CONFIG)


@pytest.mark.parametrize("mask", [Mask(), Mask(causal=True)])
@pytest.mark.parametrize("overlap", [True, False])
def test_what_is_compiled_is_well_formed(overlap, mask):
    program = compiled(Choices(overlap=overlap), mask)
    check(program, [written.op for written in program.ops])


TENSORS = {
    "waits": Tensor("waits", "int16", 8, 4, scratch=True),
    "other": Tensor("other", "int16", 8, 4),
}
SCORES, NUMERATORS = (LocalRows(Space.SCRATCHPAD, row, 4, 2, 4) for row in (0, 16))


def product(a: int, c: int) -> Products:
    return nests.product(a, 64, c, 4, 4, 4)


def load(tensor: str = "waits", row: int = 0) -> Load:
    return Load(View(tensor, row, 0, 4, 4), SCORES)


def store(c: int, tensor: str = "waits", row: int = 0) -> Store:
    sums = LocalRows(Space.ACCUMULATOR, c, 4, 1, 4)
    return Store(View(tensor, row, 0, 4, 4), sums, Drain(scale=1.0))


EXPONENT = Transform(Function.EXPONENT, SCORES, 4, (NUMERATORS,))
USED = (load(), EXPONENT, product(16, 0))
"""What was loaded has become numerators, which the first product takes."""


@pytest.mark.parametrize(
    "ops",
    [
        (*USED, store(0)),
        (load(), EXPONENT, Store(store(4).view, NUMERATORS)),  # Behind no product, but the rows.
        (*USED, product(32, 4), store(4)),
        (load(), EXPONENT, product(32, 4), product(16, 0), store(4, row=4)),
        (load("other"), EXPONENT, product(32, 4), store(4)),
        (load("other"), EXPONENT, product(32, 4), store(4, "other")),
        (
            *USED,
            product(32, 4),
            store(4),
            load(),
            EXPONENT,
            product(16, 0),
            product(32, 4),
            store(4),
        ),
    ],
)
def test_a_store_behind_who_took_what_was_there_is_legal(ops):
    check_scratch(ops, TENSORS, CONFIG)


@pytest.mark.parametrize(
    "ops",
    [
        (product(32, 4), *USED, store(4)),  # Sums that were there before.
        (load(), product(32, 4), store(4)),  # Nobody has taken it.
        (load(), EXPONENT, product(32, 4), store(4), product(16, 0)),
        (*USED, load(), product(32, 4), store(4)),  # Loaded twice, and taken once.
    ],
)
def test_a_store_that_may_overtake_a_load_is_found(ops):
    with pytest.raises(ValueError, match=r"overwrites waits\[0:4, 0:4\], which may not be loaded"):
        check_scratch(ops, TENSORS, CONFIG)


NEST = Products(
    a=8, w=64, c=0, a_k=0, w_k=4, w_column=4, c_column=0, rows=4,
    k=1, pieces=1, columns=1, last_depth=4, last_cols=4, accumulate=False,
)  # fmt: skip
"""A product with rows from 8 on, which nobody has loaded; `NUMERATORS` are 8 rows further."""


@pytest.mark.parametrize(
    ("strides", "c"),
    [
        ({"pieces": 2, "a_piece": 8}, 0),
        ({"k": 2, "a_k": 8}, 0),
        ({"k": 2, "a_k": 4, "pieces": 2, "a_piece": 4}, 0),
        ({"a": 16, "columns": 2, "c_column": 4}, 4),
        ({"a": 16, "columns": 3, "c_column": 4}, 8),
    ],
)
def test_each_product_of_a_nest_takes_its_rows(strides, c):
    """The last of them takes what was loaded, or gives what is stored."""
    check_scratch((load(), EXPONENT, replace(NEST, **strides), store(c)), TENSORS, CONFIG)
    fewer = {**strides, "k": 1, "pieces": 1, "columns": 1}
    with pytest.raises(ValueError, match="overwrites waits"):
        check_scratch((load(), EXPONENT, replace(NEST, **fewer), store(c)), TENSORS, CONFIG)


def is_spilled(op: Load) -> bool:
    return op.view.tensor == "scores.head0.spill"


def test_a_load_that_does_not_wait_for_what_was_stored_there_last_is_found():
    program = compiled(Choices())
    ops = [written.op for written in program.ops]
    loads = {at: op for at, op in enumerate(ops) if isinstance(op, Load) and is_spilled(op)}
    ops[max(loads)] = replace(loads[max(loads)], after=loads[min(loads)].after)
    with pytest.raises(ValueError, match=r"waits for .* stores, not for"):
        check(program, ops)
