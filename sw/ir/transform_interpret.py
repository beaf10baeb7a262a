"""What a transform of a program is as an operation of the instruction set."""

from typing import Final

from celosia.isa.address import LocalAddress
from celosia.isa.encoding import (
    CONFIG_MASK,
    CONFIG_NORM,
    CONFIG_ROWS,
    CONFIG_TRANSFORM,
    Instruction,
)
from celosia.isa.operations.transforms import Rows
from celosia.isa.operations.transforms import Transform as Operation
from celosia.isa.state.transform_state import TRANSFORM_CONFIGS, TransformState
from celosia.sw.ir.program import LocalRows, Settings, Space, Transform

__all__ = ["local_rows", "operation_of"]

_DEFAULTS: Final = {
    instruction.name: {field.name: field.default for field in instruction.operands}
    for instruction in TRANSFORM_CONFIGS
}


def local_rows(place: LocalRows) -> Rows:
    """`place` in the scratchpad or the accumulator, as the instruction set names it."""
    return Rows(local=_address(place), stride=place.pitch, blocks=place.blocks)


def operation_of(op: Transform) -> Operation:
    """`op` with the configuration that it is executed with; what it leaves out has its default."""
    first, second, *_ = *op.targets, None, None
    rows = {"source_stride": op.source.pitch, **op.parameters}
    if first is not None:
        rows["target_stride"] = first.pitch
    if op.residual is not None:
        rows |= {"residual": op.residual.row, "residual_stride": op.residual.pitch}
    norm = {} if second is None else {"target2_stride": second.pitch}
    settings: tuple[tuple[Instruction, Settings], ...] = (
        (CONFIG_TRANSFORM, {"function": op.function, **op.settings}),
        (CONFIG_ROWS, rows),
        (CONFIG_NORM, {**(op.norm or {}), **norm}),
        (CONFIG_MASK, op.mask or {}),
    )
    state = TransformState(_DEFAULTS)
    for instruction, given in settings:
        state = state.set(instruction, _DEFAULTS[instruction.name] | dict(given))
    nowhere = LocalAddress(row=0)
    return Operation(
        state=state,
        local=_address(op.source),
        rows=op.source.rows,
        cols=op.cols,
        target=nowhere if first is None else _address(first),
        target2=nowhere if second is None else _address(second),
    )


def _address(place: LocalRows) -> LocalAddress:
    return LocalAddress(row=place.row, accumulator=place.space is Space.ACCUMULATOR)
