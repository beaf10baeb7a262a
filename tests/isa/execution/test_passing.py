"""Passes over rows, against the table of `docs/numerics.md` kept in integers of Python."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from celosia.isa.bert import STATISTICS, Activation, BertState, NormCommand, Passing
from celosia.isa.execution.passing import PassingRows, Record
from celosia.isa.numerics import (
    INT32_MAX,
    INT32_MIN,
    inverse_deviation,
    inverse_sum,
    requantize,
    truncated_mean,
    wrapped_exponential,
    wrapped_gelu,
)
from tests.isa.execution.small_device import wrapped

COLS = 5
WORDS = st.integers(0, (1 << 32) - 1) | st.integers(0, 99)
NUMBERS = st.integers(INT32_MIN, INT32_MAX) | st.integers(-300, 300)
SCALES = st.sampled_from([1.0, 0.5, -2.0, 3e-5, 40.0])


@dataclass(frozen=True)
class Pass:
    """Rows of an MVOUT, with all that says what becomes of them."""

    rows: list[list[int]]
    passing: Passing
    scale: float

    @property
    def matrix(self) -> np.ndarray:
        return np.array(self.rows, np.int32).reshape(len(self.rows), COLS)


STATES = st.builds(
    BertState,
    statistics=st.integers(0, STATISTICS - 1),
    qb=WORDS,
    qc=WORDS,
    ln2=WORDS,
    ln2_inverse=WORDS,
)
PASSINGS = st.builds(
    Passing,
    command=st.sampled_from(NormCommand),
    activation=st.sampled_from(Activation),
    state=STATES,
)
ROWS = st.lists(st.lists(NUMBERS, min_size=COLS, max_size=COLS), max_size=3)
PASSES = st.builds(Pass, rows=ROWS, passing=PASSINGS, scale=SCALES)


def exponentials(row: list[int], record: Record, state: BertState) -> list[int]:
    words = (state.qb, state.qc, state.ln2, state.ln2_inverse)
    distances = [x - record.largest for x in row]
    return wrapped_exponential(distances, *map(wrapped, words)).tolist()


def leaves(row: list[int], record: Record, given: Pass) -> list[int]:
    """What leaves of one row."""
    state, scale = given.passing.state, np.float32(given.scale)
    match given.passing.activation:
        case Activation.IGELU:
            x, factor = wrapped_gelu(row, wrapped(state.qb), wrapped(state.qc)).tolist(), scale
        case Activation.LAYERNORM:
            x, factor = [wrapped(each - record.mean) for each in row], record.deviation
        case Activation.SOFTMAX:
            x, factor = exponentials(row, record, state), record.probability
        case _:
            x, factor = row, scale
    return requantize(np.array(x, np.int32), factor).tolist()


def after(record: Record, row: list[int], given: Pass) -> Record:
    """The record behind one row of any command but RESET."""
    scale, command = np.float32(given.scale), given.passing.command
    if command is NormCommand.MAX:
        return replace(record, running=max(record.running, *row))
    if command in {NormCommand.SUM_EXP, NormCommand.INV_SUM_EXP}:
        new = replace(record, largest=record.running)
        total = wrapped(record.total + sum(exponentials(row, new, given.passing.state)))
        new = replace(new, total=total)
        ends = command is NormCommand.INV_SUM_EXP
        return replace(new, probability=inverse_sum(total, scale)) if ends else new
    summed, count = row, record.count + len(row)
    if command in {NormCommand.VARIANCE, NormCommand.INV_STDDEV}:
        summed = [wrapped(x - record.mean) ** 2 for x in row]
    total = wrapped(record.total + sum(summed))
    if command is NormCommand.MEAN:
        return replace(record, total=0, count=0, mean=truncated_mean(total, count))
    if command is NormCommand.INV_STDDEV:
        deviation = inverse_deviation(total, count, scale)
        return replace(record, total=0, count=0, deviation=deviation)
    return replace(record, total=total, count=count)


@settings(max_examples=400)
@given(passes=st.lists(PASSES, min_size=1, max_size=6))
def test_records_and_rows_are_those_of_the_table(passes):
    rows, records = PassingRows(), [Record() for _ in range(STATISTICS)]
    for each in passes:
        number, command = each.passing.state.statistics, each.passing.command
        got = rows.scaled(each.matrix, each.passing, np.float32(each.scale))
        if command is NormCommand.RESET:
            assert got is not None
            assert got.tolist() == [leaves(row, records[number], each) for row in each.rows]
            if each.rows:
                records[number] = replace(records[number], total=0, count=0, running=INT32_MIN)
        else:
            assert got is None
            for row in each.rows:
                records[number] = after(records[number], row, each)
        np.testing.assert_equal(rows.records, records)


def run(rows: PassingRows, x: list[int], command: NormCommand, **values) -> np.ndarray | None:
    given = {"activation": Activation.NONE, "state": BertState(**values.pop("state", {}))} | values
    return rows.scaled(np.array([x], np.int32), Passing(command=command, **given), np.float32(32))


def test_a_row_in_two_blocks_is_normalized_by_its_whole():
    rows, blocks = PassingRows(), ([1, 2, 3, 4], [5, 6, 7, 8])
    for last, early in ((NormCommand.MEAN, "SUM"), (NormCommand.INV_STDDEV, "VARIANCE")):
        run(rows, blocks[0], NormCommand[early])
        run(rows, blocks[1], last)
    # The mean of 1 to 8 is 4 (cut), the root of the mean square of the distances 2 (cut).
    for block in blocks:
        got = run(rows, block, NormCommand.RESET, activation=Activation.LAYERNORM)
        assert got is not None
        assert got.tolist() == [[(x - 4) * 16 for x in block]]


def test_a_softmax_in_two_blocks_is_of_its_whole():
    """With these constants, the exponential is the square of the distance, plus 100."""
    rows, blocks, constants = PassingRows(), ([1, 5], [9, 7]), {"qc": 100}
    for command in (NormCommand.MAX, NormCommand.SUM_EXP):
        for block in blocks:
            run(rows, block, command, state=constants)
    assert rows.records[0].total == (64 + 100) + (16 + 100) + 100 + (4 + 100)


@pytest.mark.parametrize("number", range(STATISTICS))
def test_a_pass_touches_its_own_record_alone(number):
    rows = PassingRows()
    run(rows, [3, 4, 6], NormCommand.MEAN, state={"statistics": number})
    means = [record.mean for record in rows.records]
    assert means == [4 if each == number else 0 for each in range(STATISTICS)]
