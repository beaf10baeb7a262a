"""I-GELU, LayerNorm and softmax of MVOUT: records of statistics, and what becomes of rows."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from celosia.isa.bert import STATISTICS, Activation, NormCommand, Passing
from celosia.isa.numerics import (
    INT32_MIN,
    inverse_deviation,
    inverse_sum,
    requantize,
    truncated_mean,
    wrap32,
    wrapped_exponential,
    wrapped_gelu,
)

__all__ = ["PassingRows", "Record"]

_ZERO: Final = np.float32(0)
_FINAL: Final = {
    NormCommand.MEAN: NormCommand.SUM,
    NormCommand.INV_STDDEV: NormCommand.VARIANCE,
    NormCommand.INV_SUM_EXP: NormCommand.SUM_EXP,
}
"""What commands do before they end a row."""


@dataclass
class Record:
    """What is known of a row.  The constructor's values are those after power-on."""

    total: int = 0
    count: int = 0
    running: int = INT32_MIN
    largest: int = 0
    mean: int = 0
    deviation: np.float32 = _ZERO
    """The scale over it."""
    probability: np.float32 = _ZERO
    """The scale times 127 over the sum of exponentials."""


class PassingRows:
    """The records, and the rows that pass them one after the other."""

    def __init__(self) -> None:
        self.records = [Record() for _ in range(STATISTICS)]

    def scaled(
        self, rows: NDArray[np.int32], passing: Passing, scale: np.float32
    ) -> NDArray[Any] | None:
        """`rows` as they leave, before ReLU; None if they do not."""
        record, before = self.records[passing.state.statistics], passing.command
        if before is not NormCommand.RESET:
            for row in rows:
                self._gather(row, record, _FINAL.get(before, before), passing)
                self._finish(record, before, scale)
            return None
        result = requantize(*self._activated(rows, record, passing, scale))
        if len(rows):
            record.total, record.count, record.running = 0, 0, INT32_MIN
        return result

    def _activated(
        self, rows: NDArray[np.int32], record: Record, passing: Passing, scale: np.float32
    ) -> tuple[NDArray[Any], np.float32]:
        """What is scaled, and by what."""
        match passing.activation:
            case Activation.IGELU:
                return wrapped_gelu(rows, *_signed(passing.state.qb, passing.state.qc)), scale
            case Activation.LAYERNORM:
                return wrap32(rows.astype(np.int64) - record.mean), record.deviation
            case Activation.SOFTMAX:
                return _exponential(rows, record, passing), record.probability
            case _:
                return rows, scale

    def _gather(
        self, row: NDArray[np.int32], record: Record, command: NormCommand, passing: Passing
    ) -> None:
        match command:
            case NormCommand.MAX:
                record.running = max(record.running, int(row.max()))
            case NormCommand.SUM:
                self._add(record, row)
            case NormCommand.VARIANCE:
                self._add(record, wrap32(row.astype(np.int64) - record.mean).astype(np.int64) ** 2)
            case NormCommand.SUM_EXP:
                record.largest = record.running
                total = record.total + int(_exponential(row, record, passing).sum(dtype=np.int64))
                record.total = int(wrap32(total))

    def _add(self, record: Record, elements: NDArray[Any]) -> None:
        total = int(wrap32(elements).sum(dtype=np.int64))
        record.total = int(wrap32(record.total + total))
        record.count += len(elements)

    def _finish(self, record: Record, command: NormCommand, scale: np.float32) -> None:
        match command:
            case NormCommand.MEAN:
                record.mean = truncated_mean(record.total, record.count)
            case NormCommand.INV_STDDEV:
                record.deviation = inverse_deviation(record.total, record.count, scale)
            case NormCommand.INV_SUM_EXP:
                record.probability = inverse_sum(record.total, scale)
            case _:
                return
        if command is not NormCommand.INV_SUM_EXP:
            record.total, record.count = 0, 0


def _exponential(rows: NDArray[np.int32], record: Record, passing: Passing) -> NDArray[np.int32]:
    state = passing.state
    constants = _signed(state.qb, state.qc, state.ln2, state.ln2_inverse)
    return wrapped_exponential(rows.astype(np.int64) - record.largest, *constants)


def _signed(*words: int) -> list[int]:
    return [int(wrap32(word)) for word in words]
