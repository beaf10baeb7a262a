"""TRANSFORM's rules, each on both sides and all of them at random, and what its fields mean."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.isa.address import LocalAddress
from celosia.isa.functions.table import Function
from celosia.isa.functions.types import ElementType
from celosia.isa.operations.transforms import INFINITY, Rows
from celosia.isa.registers.errors import Cause
from tests.isa.operations.transform_reference import (
    ACC,
    CONFIG,
    DIM,
    PAIRED,
    PLAIN,
    SPAD,
    Reference,
    made,
)

STAGED_ONE = {"function": Function.MULTIPLY, "local": LocalAddress(row=0)}
"""Its sources are int16 in the scratchpad, four blocks of each."""
NORMAL = STAGED_ONE | {"function": Function.LAYERNORM, "type": ElementType.INT8, "two": 1}


def check(**values: Any) -> Cause:
    """What `Transform.check` says, and the reference as well."""
    cause = made(**values).check(CONFIG)
    assert cause is Reference(PLAIN | values).cause()
    return cause


def locals_in(near: tuple[int, ...], *, accumulator: int = 1) -> st.SearchStrategy[LocalAddress]:
    """Addresses near some rows, one of `accumulator` in eight in the accumulator."""
    rows = st.builds(
        lambda row, more: max(0, row + more), st.sampled_from(near), st.integers(-9, 9)
    )
    where = st.sampled_from([True] * accumulator + [False] * (8 - accumulator))
    return st.builds(LocalAddress, row=rows, accumulator=where)


STRIDES = st.integers(0, 9)
VALUES = st.fixed_dictionaries({
    "function": st.sampled_from(Function),
    "type": st.sampled_from(ElementType),
    "scale": st.sampled_from([1] * 8 + [0, INFINITY - 1, INFINITY, INFINITY + 1]),
    "bias": st.integers(0, 1),
    "column_scale": st.sampled_from([0, 0, 0, 1]),
    "statistics": st.sampled_from([0, 0, 12, 13, 14]),
    "moments": st.integers(0, 1),
    "finish": st.integers(0, 1),
    "source_stride": STRIDES,
    "target_stride": STRIDES,
    "residual_stride": STRIDES,
    "residual": locals_in((64, 128, SPAD), accumulator=0).map(LocalAddress.encode),
    "bias_row": st.integers(0, 16),
    "scale_row": st.integers(0, 16),
    "two": st.integers(0, 1),
    "type2": st.sampled_from([ElementType.INT8, ElementType.INT16, ElementType.UINT8]),
    "target2_stride": STRIDES,
    "parameter_row": st.integers(0, 16),
    "channels": st.sampled_from([1, 1, 1, 0, 4096, 4097]),
    "local": locals_in((0, 32, ACC, SPAD), accumulator=4),
    "rows": st.integers(1, 4),
    "cols": st.integers(1, 17) | st.sampled_from([4, 8, 4096, 4097]),
    "target": locals_in((64, 128, SPAD)),
    "target2": locals_in((128, 192, SPAD), accumulator=0),
})


@settings(max_examples=1000)
@given(values=VALUES)
def test_the_first_broken_rule_is_that_of_the_table(values):
    check(**values)


@pytest.mark.parametrize(
    ("legal", "broken", "cause"),
    [
        ({}, {"function": Function.MULTIPLY}, Cause.UNSUPPORTED),
        (STAGED_ONE, {"local": LocalAddress(row=0, accumulator=True)}, Cause.UNSUPPORTED),
        (STAGED_ONE, {"residual": 1 << 31 | 64}, Cause.UNSUPPORTED),
        ({}, {"target": LocalAddress(row=9, accumulator=True)}, Cause.UNSUPPORTED),
        (NORMAL, {"type2": ElementType.UINT8}, Cause.UNSUPPORTED),
        (NORMAL, {"type": ElementType.UINT8}, Cause.UNSUPPORTED),
        ({"function": Function.SUM, "scale": INFINITY - 1}, {"scale": INFINITY}, Cause.SCALE),
        ({"function": Function.SUM, "scale": 1}, {"scale": 0}, Cause.SCALE),
        ({"function": Function.SUM}, {"column_scale": 1}, Cause.SCALE),
        ({"scale": 0, "column_scale": 1}, {"function": Function.MAXIMUM}, Cause.SCALE),
        ({"cols": 4096, "source_stride": 0, "target_stride": 0}, {"cols": 4097}, Cause.SHAPE),
        (STAGED_ONE | {"function": Function.ROTATE}, {"cols": 7}, Cause.SHAPE),
        *[
            (
                STAGED_ONE | {"function": Function.MOMENTS, "finish": 1, "channels": channels},
                {"channels": beyond},
                Cause.SHAPE,
            )
            for channels, beyond in ((1, 0), (4096, 4097))
        ],
        *[
            (
                {"local": LocalAddress(row=ACC - 11, accumulator=True)},
                {"local": LocalAddress(row=ACC - 10, accumulator=True)},
                Cause.LOCAL_RANGE,
            ),
            (
                {"target": LocalAddress(row=SPAD - 11)},
                {"target": LocalAddress(row=SPAD - 10)},
                Cause.LOCAL_RANGE,
            ),
            (STAGED_ONE | {"residual": SPAD - 27}, {"residual": SPAD - 26}, Cause.LOCAL_RANGE),
            (
                NORMAL | {"target2": LocalAddress(row=SPAD - 11)},
                {"target2": LocalAddress(row=SPAD - 10)},
                Cause.LOCAL_RANGE,
            ),
            ({"bias": 1, "bias_row": 14}, {"bias_row": 15}, Cause.LOCAL_RANGE),
            ({"column_scale": 1, "scale_row": 14}, {"scale_row": 15}, Cause.LOCAL_RANGE),
            (NORMAL | {"parameter_row": 8}, {"parameter_row": 9}, Cause.LOCAL_RANGE),
            (
                {"function": Function.SUM, "statistics": 13},
                {"statistics": 14},
                Cause.LOCAL_RANGE,
            ),
        ],
        *[
            (STAGED_ONE | {"target": legal}, {"target": broken}, Cause.OVERLAP)
            for legal, broken in (
                (LocalAddress(row=27), LocalAddress(row=26)),  # Behind the source.
                (LocalAddress(row=53), LocalAddress(row=54)),  # Before the other one.
                (LocalAddress(row=91), LocalAddress(row=90)),
            )
        ],
        *[
            (
                NORMAL | {"target2": LocalAddress(row=legal)},
                {"target2": LocalAddress(row=broken)},
                Cause.OVERLAP,
            )
            for legal, broken in ((139, 138), (117, 118), (27, 26))
        ],
    ],
)
def test_each_rule_has_two_sides(legal, broken, cause):
    assert check(**legal) is Cause.NONE
    assert check(**legal | broken) is cause


def test_what_a_function_does_not_use_breaks_no_rule():
    beyond = {"statistics": 99, "channels": 0, "finish": 1, "parameter_row": 99, "type2": 3}
    unused = {"target2": LocalAddress(row=SPAD), "residual": SPAD, "bias_row": 99, "scale_row": 99}
    assert check(**beyond, **unused) is Cause.NONE
    assert check(**STAGED_ONE, bias=1, column_scale=1, bias_row=99, scale_row=99) is Cause.NONE


def test_an_unknown_function_is_refused():
    assert made(function=len(Function)).check(CONFIG) is Cause.UNSUPPORTED


def test_only_functions_of_two_operands_have_a_second_one():
    for function in Function:
        residual = made(function=function, residual=64, residual_stride=7).residual(DIM)
        wanted = Rows(local=LocalAddress(row=64), stride=7, blocks=4)
        assert residual == (wanted if function in PAIRED else None)


@pytest.mark.parametrize("cols", [1, 3, 4, 5, 8, 9])
def test_rows_take_the_blocks_of_their_type(cols):
    transform = made(**NORMAL, type2=ElementType.INT16, cols=cols)
    first, second = transform.results(DIM)
    bytes_, halves = -(-cols // DIM), -(-2 * cols // DIM)
    assert (first.local, first.stride, first.blocks) == (PLAIN["target"], 8, bytes_)
    assert (second.local, second.stride, second.blocks) == (PLAIN["target2"], 8, halves)
    assert transform.source(DIM) == Rows(local=LocalAddress(row=0), stride=8, blocks=halves)
    assert made(cols=cols).source(DIM).blocks == bytes_
    assert first.last(3) == 130 + 8 * (bytes_ - 1)


@pytest.mark.parametrize("cols", [1, 3, 4, 5, 8, 9])
def test_parameters_take_the_rows_of_whole_blocks(cols):
    """Gamma and beta have two rows for each block of int16, others one of bytes."""
    bytes_, halves = -(-cols // DIM), -(-2 * cols // DIM)
    norm = made(**NORMAL, parameter_row=5, cols=cols)
    assert list(norm.parameters(DIM)) == [(5, 2 * halves)]
    both = made(bias=1, column_scale=1, bias_row=3, scale_row=7, cols=cols)
    assert list(both.parameters(DIM)) == [(3, bytes_), (7, bytes_)]


def test_a_second_result_is_one_of_a_normalization():
    assert not made(two=1).two
    assert not made(**NORMAL | {"two": 0}).two
    assert made(**NORMAL).two
