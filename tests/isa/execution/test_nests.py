"""PRODUCTS as one product of matrices leaves what its commands leave one after the other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import CONFIG_EX, CONFIG_PRODUCTS, PRODUCTS, Command
from celosia.isa.execution.memories import LocalMemories
from celosia.isa.execution.nests import execute_nest
from celosia.isa.execution.products import execute_product
from celosia.isa.operations.operations import Product
from celosia.isa.operations.product_nest import ProductNest
from celosia.isa.operations.semantics import step
from celosia.isa.state.state import ArchState

DIM = 4
CONFIG = AcceleratorConfig(
    dim=DIM,
    scratchpad_kib=1,
    accumulator_kib=1,
    accumulator_banks=1,
    parameter_rows=8,
    loop_entries=16,
    dataflow="both",
)
"""256 scratchpad rows and 64 accumulator rows."""
COUNT, ROW = st.integers(1, 3), st.integers(0, 60)
STRIDE = st.one_of(st.integers(0, 20), st.integers(-20, -1).map(lambda n: n & 0xFFFF))
NESTS = st.fixed_dictionaries({
    "a": ROW,
    "w": st.integers(0, 200),
    "c": st.integers(0, 40),
    "overwrite": st.integers(0, 1),
    "rows": st.integers(1, 12),
    "k": COUNT,
    "pieces": COUNT,
    "columns": COUNT,
    "last_depth": st.integers(1, DIM),
    "last_cols": st.integers(1, DIM),
})
STRIDES = st.fixed_dictionaries(
    dict.fromkeys(("a_k", "a_piece", "w_k", "w_piece", "w_column", "c_column"), STRIDE)
)
FLAGS = st.fixed_dictionaries(
    dict.fromkeys(("a_unsigned", "b_transpose", "b_type"), st.integers(0, 1))
)


def nest_of(values: dict[str, int], strides: dict[str, int]) -> ProductNest:
    products, configuration = PRODUCTS.encode(**values), CONFIG_PRODUCTS.encode(**strides)
    nest = ProductNest.decode(products, configuration, DIM)
    assert nest is not None
    return nest


def configured(**values: int) -> ArchState:
    return step(CONFIG_EX.encode(**values), ArchState.reset(CONFIG), CONFIG).state


def one_by_one(nest: ProductNest, state: ArchState, memories: LocalMemories) -> ArchState | None:
    """The state after the commands of `nest`; None: one of them breaks a rule."""
    for command in nest.commands():
        done = step(command, state, CONFIG)
        if done.cause:
            return None
        if isinstance(done.operation, Product):
            execute_product(done.operation, memories)
        state = done.state
    return state


def assert_alike(one: LocalMemories, other: LocalMemories) -> None:
    for name in ("scratchpad", "accumulator", "weights", "sums"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


@given(NESTS, STRIDES, FLAGS)
def test_both_ways_leave_the_same(values, strides, flags):
    nest, state = nest_of(values, strides), configured(**flags)
    whole, single = LocalMemories(CONFIG, seed=1), LocalMemories(CONFIG, seed=1)
    after = execute_nest(nest, state, CONFIG, whole)
    if after is None:
        assert_alike(whole, single)
    else:
        assert after == one_by_one(nest, state, single)
        assert_alike(whole, single)


REGULAR = {"a": 0, "w": 64, "c": 0, "rows": 3, "k": 2, "columns": 2, "pieces": 2}
REGULAR |= {"last_depth": 3, "last_cols": 2}
APART = {"a_k": 3, "a_piece": 6, "w_k": 4, "w_piece": 8, "w_column": 16, "c_column": 3}


@pytest.mark.parametrize("b_type", [0, 1])
@pytest.mark.parametrize("overwrite", [0, 1])
@pytest.mark.parametrize("last_cols", [2, DIM])
def test_tiles_that_stand_apart_are_one_product(overwrite, last_cols, b_type):
    nest = nest_of(REGULAR | {"overwrite": overwrite, "last_cols": last_cols}, APART)
    whole, single = LocalMemories(CONFIG), LocalMemories(CONFIG)
    state = configured(b_type=b_type)
    after = execute_nest(nest, state, CONFIG, whole)
    assert after is not None
    assert after == one_by_one(nest, state, single)
    assert_alike(whole, single)


@pytest.mark.parametrize(
    ("values", "strides", "state"),
    [
        ({}, {"c_column": 2}, {}),
        ({}, {"c_column": 0}, {}),
        ({"c": 62}, {}, {}),
        ({"a": 252}, {}, {}),
        ({"w": 253}, {}, {}),
        ({}, {"w_column": 0xFF00}, {}),
        ({}, {}, {"a_stride": 2}),
        ({}, {}, {"c_stride": 0}),
        ({}, {}, {"a_transpose": 1}),
        ({}, {}, {"weight_stationary": 0}),
    ],
)
def test_what_is_not_regular_is_left_to_single_commands(values, strides, state):
    memories, untouched = LocalMemories(CONFIG), LocalMemories(CONFIG)
    nest = nest_of(REGULAR | values, APART | strides)
    assert execute_nest(nest, configured(**state), CONFIG, memories) is None
    assert_alike(memories, untouched)


@pytest.mark.parametrize(("operand", "b_type"), [("a", 0), ("w", 0), ("w", 1), ("c", 0)])
def test_tiles_may_reach_the_last_row_of_their_memory(operand, b_type):
    rows = CONFIG.accumulator_rows if operand == "c" else CONFIG.scratchpad_rows
    length = DIM // (1 + b_type) if operand == "w" else REGULAR["rows"]
    regular = nest_of(REGULAR, APART)
    last = max(np.ravel(getattr(regular, operand))) - REGULAR[operand]
    for first, beyond in ((rows - length - last, False), (rows - length - last + 1, True)):
        nest = nest_of(REGULAR | {operand: int(first)}, APART)
        state = configured(b_type=b_type)
        whole, single = LocalMemories(CONFIG), LocalMemories(CONFIG)
        after = execute_nest(nest, state, CONFIG, whole)
        assert (after is None) is beyond
        if after is not None:
            assert after == one_by_one(nest, state, single)
        assert_alike(whole, single)


def test_sums_wrap():
    values = {"rows": 1, "k": 1, "pieces": 1, "columns": 1, "last_depth": 1, "last_cols": 1}
    memories = LocalMemories(CONFIG, fill=0)
    memories.scratchpad[0, 0] = memories.scratchpad[8, 0] = 1
    memories.accumulator[0, 0] = (1 << 31) - 1
    assert execute_nest(nest_of({"w": 8} | values, {}), configured(), CONFIG, memories)
    assert memories.accumulator[0, 0] == -(1 << 31)


def test_its_length_is_that_of_its_commands():
    nest = nest_of(REGULAR, APART)
    commands: list[Command] = list(nest.commands())
    assert len(nest) == len(commands) == 2 * 2 * 2 * 2
