"""What the decoder offers for a command, by the contract."""

from typing import Any, Final

from amaranth.hdl import Shape

from celosia.hw.decode.decoder import PRODUCT_HULLS, Kind, hull_count
from celosia.hw.decode.ops import Space
from celosia.hw.decode.ranges import space_base
from celosia.hw.decode.transform_op import TransformOp
from celosia.hw.decode.transforms import TRANSFORM_HULLS
from celosia.isa.config import AcceleratorConfig
from celosia.isa.encoding import Command, Funct
from celosia.isa.numerics import MAX_COLUMNS
from celosia.isa.operations.operations import Load, LoadParameters, Operation, Product, Store
from celosia.isa.operations.semantics import step
from celosia.isa.operations.transforms import Rows, Transform
from celosia.isa.registers.errors import Cause
from celosia.isa.state.state import ArchState
from tests.support.operations import load_op, parameters_op, product_op, store_op
from tests.support.transforms import operation as transform_op

__all__ = ["expected", "offer"]

Range = tuple[int, int] | None
"""First and last row, counted through all memories; None: no row."""

_UNUSED: Final = (
    "residual",
    "target",
    "target2",
    "bias_row",
    "scale_row",
    "gamma_row",
    "slot",
    "halfway",
    "residual_halfway",
)
"""Fields of a transform that its function may not use: what does not fit them is cut off."""


def expected(config: AcceleratorConfig, commands: list[Command]) -> list[dict]:
    """What the decoder offers for `commands`, each with its number."""
    state, offers = ArchState.reset(config), []
    for tag, command in enumerate(commands):
        result = step(command, state, config)
        state = result.state
        found = offer(config, command, result.cause, result.operation)
        if found is not None:
            offers.append(found | {"tag": tag})
    return offers


def offer(
    config: AcceleratorConfig, command: Command, cause: Cause, operation: Operation | None
) -> dict | None:
    """What the decoder offers for `command`, which the contract says is this; None: nothing."""
    if cause:
        return {"kind": Kind.ERROR, "cause": cause}
    if operation is not None:
        kind, fields, ranges = _described(config, operation)
        rows = [*ranges, *[None] * (hull_count(config) - len(ranges))]
        return {"kind": kind, "cause": Cause.NONE, "fields": fields, "ranges": rows}
    if command.funct == Funct.FENCE:
        return {"kind": Kind.FENCE, "cause": Cause.NONE}
    return None


def _described(
    config: AcceleratorConfig, operation: Operation
) -> tuple[Kind, dict[str, Any], list[Range]]:
    match operation:
        case Load():
            last = operation.local.row + operation.rows - 1 + _further(config, operation)
            first = operation.local.row
            if operation.repeats > 1:
                first = operation.first(config)
            ranges = [_range(config, _memory(operation), first, last)]
            copies = {"copies": operation.repeats - 1} if config.convolution else {}
            return Kind.LOAD, load_op(operation) | copies, ranges
        case Store():
            last = operation.local.row + operation.rows - 1 + _further(config, operation)
            ranges = [_range(config, _memory(operation), operation.local.row, last)]
            bias, blocks = operation.bias_row, operation.blocks(config.dim)
            if bias is not None:
                ranges.append(_range(config, Space.PARAMETER, bias, bias + blocks - 1))
            return Kind.STORE, _unused_by_stores(config, operation) | store_op(operation), ranges
        case LoadParameters():
            last = operation.row + -(-operation.count // config.dim) - 1
            copies = {"copies": 0} if config.convolution else {}
            ranges = [_range(config, Space.PARAMETER, operation.row, last)]
            return Kind.LOAD, parameters_op(operation) | copies, ranges
        case Product():
            return Kind.EXECUTE, _product(config, operation), _product_ranges(config, operation)
        case Transform():
            op = _cut_to(config, transform_op(operation, config))
            return Kind.TRANSFORM, op, _transform_ranges(config, operation)


def _further(config: AcceleratorConfig, operation: Load | Store) -> int:
    """Rows from the first block to the last one."""
    return (operation.blocks(config.dim) - 1) * operation.pitch


def _memory(operation: Load | Store) -> Space:
    return Space.ACCUMULATOR if operation.local.accumulator else Space.SCRATCHPAD


def _range(config: AcceleratorConfig, space: Space, first: int, last: int) -> Range:
    base = space_base(config, space)
    return (base + first, base + last) if last >= first else None


def _unused_by_stores(config: AcceleratorConfig, store: Store) -> dict[str, Any]:
    pools = {"pools": 0} if config.convolution else {}
    return pools | ({"passing": {"passes": 0}} if config.bert else {})


def _product(config: AcceleratorConfig, product: Product) -> dict[str, Any]:
    """The fields of `ExecuteOp`, with the rows that stream."""
    rows = config.dim if product.resident else product.c.rows if product.c else 0
    resident = {"resident": 0} if config.output_stationary else {}
    return resident | product_op(product) | {"c_rows": rows}


def _product_ranges(config: AcceleratorConfig, product: Product) -> list[Range]:
    """C, A, W and D."""
    ranges: list[Range] = []
    for operand in (product.c, product.a, product.w, product.d):
        if operand is None:
            ranges.append(None)
        else:
            space = Space.ACCUMULATOR if operand.local.accumulator else Space.SCRATCHPAD
            ranges.append(_range(config, space, operand.local.row, operand.last))
    assert len(ranges) == PRODUCT_HULLS
    return ranges


def _transform_ranges(config: AcceleratorConfig, transform: Transform) -> list[Range]:
    """First and second result, source, residual, bias (or gamma), and scales."""

    def local(rows: Rows | None) -> Range:
        if rows is None:
            return None
        space = Space.ACCUMULATOR if rows.local.accumulator else Space.SCRATCHPAD
        base = space_base(config, space)
        return base + rows.local.row, base + rows.last(transform.rows)

    dim = config.dim
    results = [local(rows) for rows in transform.results(dim)]
    parameters: list[Range] = [None, None]
    base = space_base(config, Space.PARAMETER)
    for row, count in transform.parameters(dim):
        scales = not transform.rules.normalizes and (
            parameters[0] is not None or not transform.setting("bias")
        )
        parameters[bool(scales)] = base + row, base + row + count - 1
    matrices = [transform.source(dim), transform.residual(dim)]
    ranges = [*results, *[None] * (2 - len(results)), *map(local, matrices), *parameters]
    assert len(ranges) == TRANSFORM_HULLS
    return ranges


def _cut_to(config: AcceleratorConfig, op: dict) -> dict:
    layout = TransformOp(config).members
    cut = {name: op[name] % (1 << Shape.cast(layout[name]).width) for name in _UNUSED}
    channels = op["norm"]["channels"] % (1 << MAX_COLUMNS.bit_length())
    return op | cut | {"norm": op["norm"] | {"channels": channels}}
